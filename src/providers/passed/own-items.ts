/**
 * Files and batches at a provider as their key sees them: with ids that are signed for it, in the lists of what it made, and counted once they have ended.
 * Wire: API references of OpenAI ("Files", "Batches") and Anthropic ("Message Batches").
 */
import { isRecord, type Json, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { MB } from '../../core/limits/units.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem, quoted } from '../../core/problem.ts';
import type { ItemState, NotedItem, ProviderItem, ProviderItemQuery } from '../../core/records/provider-item.ts';
import { readBounded } from '../../net/read-bounded.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { UsageRecorder } from '../../ports/usage.ts';
import { malformedProblem } from '../provider-error.ts';
import { ofFirstKey } from '../provider-exchange.ts';
import { withoutKey } from '../provider-secrets.ts';
import type { ProxyDeps } from '../proxy.ts';
import { adapters } from '../registry.ts';
import { openHead } from '../transport.ts';
import { countedResults, createResultScan, reportBatch, totalsOfBatch, type BatchTotals } from './batch-usage.ts';
import { type IdSeal, openId, sealId } from './provider-ids.ts';

export type PassedDeps = ProxyDeps & {
  log: Logger;
  fileIds: IdSeal;
  items(principal: Principal): Pick<CatalogPort, 'noteProviderItems' | 'providerItems'>;
  recordUsage: UsageRecorder['record'];
};

/** The paths behind the base URL. */
export type PassedPath = 'files' | 'batches' | 'messages/batches';
export const kindOfPath = { files: 'file', batches: 'batch', 'messages/batches': 'message-batch' } as const satisfies Record<
  PassedPath,
  ProviderItem['kind']
>;

const maxDocumentBytes = 1 * MB;

/** `ownUrl`: where the client reached this service; results of Anthropic's batches are read at a URL, to which clients send their key. */
type Shown = { of: PassedPath; access: ProviderAccess; ownUrl: string; requestId?: string | undefined };

/** `given`: the client's, of Anthropic's API. */
export function passedHeaders({ kind }: ProviderAccess, given: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { accept: '*/*', ...adapters[kind].headers, ...given };
}

export async function readOwnItem(access: ProviderAccess, response: Response): Promise<Json> {
  const { bytes, truncated } = await readBounded(response, maxDocumentBytes);
  const document = truncated ? null : tryParse(withoutKey(access, new TextDecoder().decode(bytes)));
  if (!isRecord(document)) throw malformedProblem(access, 'sent no JSON object');
  return document;
}

/** Returns the provider's document with ids for this key. A batch that has ended is counted before. */
export async function showOwnItem(deps: PassedDeps, principal: Principal, shown: Shown, document: Json): Promise<Json> {
  const { of, access, ownUrl } = shown;
  if (of === 'batches') await countBatch(deps, principal, shown, document);
  const own: Json = { ...document };
  for (const name of ['id', 'input_file_id', 'output_file_id', 'error_file_id']) {
    const id = document[name];
    if (typeof id === 'string') own[name] = await sealId(deps.fileIds, principal, { provider: access.name, id });
  }
  if (typeof document.results_url === 'string') own.results_url = `${ownUrl}/v1/messages/batches/${stringOf(own.id)}/results`;
  return own;
}

const endStates: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** A provider that does not report what its batch used says it in the lines of the output file. */
async function countBatch(deps: PassedDeps, principal: Principal, { access, requestId }: Shown, document: Json): Promise<void> {
  const { id, output_file_id: output, error_file_id: errors } = document;
  const isEnded = endStates.has(stringOf(document.status));
  if (typeof id !== 'string' || !(isEnded || typeof output === 'string')) return;
  const own = { provider: access.name };
  const totals = isEnded ? totalsOfBatch(document) : null;
  const batch: NotedItem = { ...own, kind: 'batch', id };
  const files = [output, errors].filter((file) => typeof file === 'string');
  const outputs = files.map((file): NotedItem => {
    const isCounted = totals !== null || file !== output;
    return { ...own, kind: 'file', id: file, purpose: 'batch_output', ...(!isCounted && { batch: id }) };
  });
  const [state] = await deps.items(principal).noteProviderItems([batch, ...outputs]);
  if (totals === null || state?.isCounted !== false) return;
  await reportBatch(deps, principal, { access, batch: id, totals, requestId: requestId ?? null });
  await deps.items(principal).noteProviderItems([{ ...batch, state: 'counted' }]);
}

/** Returns the results of a batch, which are counted as they pass; the content of any other file is forwarded unread. */
export async function showContent(
  deps: PassedDeps,
  principal: Principal,
  { access, requestId, item, state }: Omit<Shown, 'of' | 'ownUrl'> & { item: ProviderItem; state: ItemState | undefined },
  body: ReadableStream<Uint8Array> | null,
): Promise<ReadableStream<Uint8Array> | null> {
  const batch = item.kind === 'file' ? state?.batch : item.id;
  if (body === null || batch == null || state?.isCounted !== false) return body;
  const count = async (totals: BatchTotals): Promise<void> => {
    if (totals.size === 0) return;
    try {
      await reportBatch(deps, principal, { access, batch, totals, requestId: requestId ?? null });
      await deps.items(principal).noteProviderItems([{ ...item, state: 'counted' }]);
    } catch (error) {
      // It is counted when the results are read again.
      deps.log.error('what a batch used could not be stored', { provider: access.name, keyId: principal.keyId, cause: String(error) });
    }
  };
  const { clock, background = () => undefined } = deps;
  return countedResults(body, createResultScan(access, state.model), { clock, background }, count);
}

/** Notes what was made or deleted. The client has to get the reply, so a failure is only logged: without its row, an item is missing in lists. */
export async function noteItem({ items, log }: PassedDeps, principal: Principal, item: NotedItem): Promise<void> {
  const failed = (error: unknown): void =>
    log.error('an item of a provider is missing in the lists of its key', { provider: item.provider, id: item.id, cause: String(error) });
  await items(principal).noteProviderItems([item]).catch(failed);
}

/** Each item is read at its provider, so a page has at most this many, whatever its client asks for. */
export const maxListedItems = 40;
const readAtOnce = 5;
const maxReads = 3;

/** `after`, `before`: ids that the key has. `before`: what is newer, for Anthropic's lists. */
export type ListRequest = {
  of: PassedPath;
  after?: string | undefined;
  before?: string | undefined;
  purpose?: string | undefined;
  order: 'asc' | 'desc';
  limit: number;
  ownUrl: string;
  requestId?: string | undefined;
};

/** Returns a page of what the key made at these providers, as the providers have it now. What is no longer there is left out. */
export async function listOwnItems(
  deps: PassedDeps,
  principal: Principal,
  { of, after, before, purpose, order, limit, ...shown }: ListRequest,
  accesses: readonly ProviderAccess[],
): Promise<{ data: Json[]; hasMore: boolean }> {
  const start = before ?? after;
  const param = before === undefined ? 'after' : 'before_id';
  const from = start === undefined ? undefined : await openId(deps.fileIds, principal, start, param);
  const kind = kindOfPath[of];
  const providers = accesses.map(({ name }) => name);
  const asked = { kind, providers, purpose, limit: Math.min(limit, maxListedItems), order: before === undefined ? order : 'asc' } as const;
  const data: Json[] = [];
  let at: ProviderItemQuery['after'] = from;
  let hasMore = true;
  // A page without items would end the paging of a client.
  for (let reads = 0; data.length === 0 && hasMore && reads < maxReads; reads += 1) {
    const page = await deps.items(principal).providerItems({ ...asked, after: at });
    if (page === null) throw new Problem('not_found', `${quoted(start ?? '')} is not in this list any more: begin without it.`, { param });
    data.push(...(await readItems(deps, principal, { of, ...shown }, page.items, accesses)));
    hasMore = page.hasMore;
    at = page.items.at(-1);
  }
  return { data: before === undefined ? data : data.reverse(), hasMore };
}

async function readItems(
  deps: PassedDeps,
  principal: Principal,
  shown: Omit<Shown, 'access'>,
  items: readonly ProviderItem[],
  accesses: readonly ProviderAccess[],
): Promise<Json[]> {
  const found: { item: ProviderItem; document: Json | null }[] = [];
  for (let start = 0; start < items.length; start += readAtOnce) {
    const read = items.slice(start, start + readAtOnce).map(async (item) => {
      const access = accesses.find(({ name }) => name === item.provider);
      return { item, document: access === undefined ? null : await readItem(deps, principal, { ...shown, access }, item) };
    });
    found.push(...(await Promise.all(read)));
  }
  // A provider that has none of them may have been given the key of another account for a time.
  const present = new Set(found.flatMap(({ item, document }) => (document === null ? [] : [item.provider])));
  const gone = found.filter(({ item, document }) => document === null && present.has(item.provider));
  for (const { item } of gone) await noteItem(deps, principal, { ...item, state: 'deleted' });
  return found.flatMap(({ document }) => (document === null ? [] : [document]));
}

/** Returns null if the provider does not have the item. */
async function readItem(deps: PassedDeps, principal: Principal, shown: Shown, item: ProviderItem): Promise<Json | null> {
  const { outbound: http, clock } = deps;
  const access = ofFirstKey(shown.access);
  const path = `/${shown.of}/${encodeURIComponent(item.id)}`;
  try {
    const exchange = { access, model: '', path, method: 'GET' as const, headers: passedHeaders(access), body: null };
    const response = await openHead({ http, clock }, exchange, { isWhole: true });
    return await showOwnItem(deps, principal, shown, await readOwnItem(access, response));
  } catch (error) {
    if (!(error instanceof Problem) || recordOf(error.extra).upstreamStatus !== 404) throw error;
    return null;
  }
}
