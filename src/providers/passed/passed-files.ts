/**
 * Files and batches of OpenAI's API (API reference, November 2026), and message batches of Anthropic's. The ids of replies are signed for their key
 * (`provider-ids.ts`); which ones a key has, and what its batches used, is in `own-items.ts`.
 */
import { stringOf } from '../../core/json/wire-value.ts';
import { MB } from '../../core/limits/units.ts';
import { createDropped } from '../../core/model/dropped.ts';
import { coversPattern } from '../../core/model/model-name.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, Problem, quoted } from '../../core/problem.ts';
import { nameHolder } from '../../core/usage-limits.ts';
import { readModelRules } from '../../engine/plan/plan-models.ts';
import { readLimits } from '../../engine/plan/turn-limits.ts';
import { startMeter } from '../../engine/proxy/call-meter.ts';
import { countsUse } from '../../engine/proxy/reserve-request.ts';
import { answerHeaders } from './forward-chat.ts';
import { ofFirstKey } from '../provider-exchange.ts';
import { openHead } from '../transport.ts';
import { toMessageBatch } from './message-batch.ts';
import * as own from './own-items.ts';
import { openAiKinds } from './passed-request.ts';
import { openId } from './provider-ids.ts';

/**
 * `id`: as a reply here had it. `provider`: that the request names. `body`: a form as it arrives, with its content type, or the members of a batch.
 * `headers`: the client's, of Anthropic's API.
 */
export type FileRequest = {
  of: own.PassedPath;
  method: 'GET' | 'POST' | 'DELETE';
  id?: string;
  action?: 'content' | 'cancel' | 'results';
  provider?: string | undefined;
  body?: { form: ReadableStream<Uint8Array>; contentType: string; length: string | null } | Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  ownUrl: string;
  requestId?: string | undefined;
};

/** What OpenAI accepts. */
export const maxFileBytes = 512 * MB;

/** Throws `Problem` for everything but success. */
export async function passFiles(deps: own.PassedDeps, principal: Principal, request: FileRequest): Promise<Response> {
  const { outbound: http, clock } = deps;
  const { of, method, id, action, body, requestId, ownUrl } = request;
  const given = id === undefined ? null : await openId(deps.fileIds, principal, id);
  const isBatch = of !== 'files' && method === 'POST' && id === undefined;
  if (isBatch) await requireNoUseLimits(deps, principal);
  const dropped = createDropped();
  const input = isForm(body) || body === undefined ? null : await inputOf(deps, principal, of, body, dropped);
  const { provider = request.provider } = given ?? input ?? {};
  if (request.provider !== undefined && provider !== request.provider)
    throw invalidRequest([{ path: 'provider', message: `the id is of ${quoted(provider ?? '')}: omit the provider` }]);
  const access = ofFirstKey(await chooseProvider(deps, principal, provider, of));
  const path = `/${[of, ...(given === null ? [] : [encodeURIComponent(given.id)]), ...(action === undefined ? [] : [action])].join('/')}`;
  const item = { kind: own.kindOfPath[of], provider: access.name, id: given?.id ?? '' };
  const hasContent = action === 'content' || action === 'results';
  const [state] = hasContent ? await deps.items(principal).noteProviderItems([item]) : [];
  const meter = startMeter(deps, { principal, ref: `${access.name}/${of}`, requestId, dialect: null, isModel: false }, access);
  try {
    const form = isForm(body) ? boundedForm(body) : null;
    const headers = { ...own.passedHeaders(access, request.headers), ...(isForm(body) && { 'content-type': body.contentType }) };
    const exchange = { access, model: '', path, method, headers, body: form?.stream ?? input?.body ?? null };
    const response = await openHead({ http, clock }, exchange, { isWhole: true, ...(form?.signal && { signal: form.signal }) }).catch(
      (error: unknown) => {
        throw form?.fault() ?? error;
      },
    );
    const late = form?.fault() ?? null;
    if (late !== null) throw late;
    const shown = await answerHeaders(access, response, dropped);
    if (hasContent) {
      const content = await own.showContent(deps, principal, { access, requestId, item, state }, response.body);
      meter.end();
      return new Response(content, { status: 200, headers: shown });
    }
    const document = await own.readOwnItem(access, response);
    const change = { ...item, id: stringOf(document.id) };
    if (method === 'DELETE') await own.noteItem(deps, principal, { ...item, state: 'deleted' });
    else if (given === null) {
      const { purpose, expires_at: until } = document;
      const known = { purpose: of === 'files' ? stringOf(purpose) : undefined, model: input?.model };
      const expiresAt = of === 'files' && typeof until === 'number' ? until * 1_000 : undefined;
      await own.noteItem(deps, principal, { ...change, ...known, expiresAt });
    }
    const answered = await own.showOwnItem(deps, principal, { of, access, ownUrl, requestId }, document);
    meter.end();
    return new Response(JSON.stringify(answered), { status: 200, headers: shown });
  } catch (error) {
    meter.fail(error);
    throw error;
  }
}

/** `provider`: absent: all that have such items for this key. */
export type PassedListRequest = own.ListRequest & { provider?: string | undefined };

export async function listPassed(deps: own.PassedDeps, principal: Principal, { provider, ...request }: PassedListRequest) {
  const named = provider === undefined ? null : await chooseProvider(deps, principal, provider, request.of);
  const accesses = named === null ? await readProviders(deps, principal, request.of) : [named];
  return await own.listOwnItems(deps, principal, request, accesses);
}

function isForm(body: FileRequest['body']): body is Extract<FileRequest['body'], { form: unknown }> {
  return body !== undefined && body.form instanceof ReadableStream;
}

/** Returns a batch with the provider's names of its models, or its id of the file. `model`: the only one, if it is known. */
async function inputOf(
  deps: own.PassedDeps,
  principal: Principal,
  of: own.PassedPath,
  body: Readonly<Record<string, unknown>>,
  dropped: ReturnType<typeof createDropped>,
): Promise<{ provider: string; body: object; model?: string | undefined }> {
  if (of === 'messages/batches') return await toMessageBatch(deps, principal, body, dropped);
  const { input_file_id: file } = body;
  if (typeof file !== 'string') throw invalidRequest([{ path: 'input_file_id', message: 'must be the id of an uploaded file' }]);
  const { provider, id } = await openId(deps.fileIds, principal, file, 'input_file_id');
  return { provider, body: { ...body, input_file_id: id } };
}

/** The kinds that have such items. */
const kindsOf = { files: openAiKinds, batches: openAiKinds, 'messages/batches': new Set(['anthropic']) } as const satisfies Record<
  own.PassedPath,
  ReadonlySet<ProviderAccess['kind']>
>;

function has(of: own.PassedPath, { kind }: ProviderAccess): boolean {
  const kinds: ReadonlySet<ProviderAccess['kind']> = kindsOf[of];
  return kinds.has(kind);
}

/** A file is not read here, so that it may name any model. The models of a message batch were checked when it was made. */
async function allowedProviders({ directory }: own.PassedDeps, principal: Principal, of: own.PassedPath) {
  const rules = of === 'messages/batches' ? [] : await readModelRules(directory, principal);
  return (name: string): boolean => rules.every(({ models }) => coversPattern(models, `${name}/*`));
}

/** Returns the providers with such items that all allow-lists allow whole. */
async function readProviders(deps: own.PassedDeps, principal: Principal, of: own.PassedPath): Promise<ProviderAccess[]> {
  const { directory } = deps;
  const isAllowed = await allowedProviders(deps, principal, of);
  const names = (await directory.providers(principal.workspace)).map(({ name }) => name).filter(isAllowed);
  const found = await Promise.all(names.map((name) => directory.provider(principal.workspace, name).catch(unlessUsable)));
  return found.filter((access) => access !== null && has(of, access)).filter((access) => access !== null);
}

/** A provider that was deleted or lacks its key has nothing to choose; a request that names it says so. Throws any other fault, such as of storage. */
function unlessUsable(error: unknown): null {
  if (error instanceof Problem && (error.code === 'not_found' || error.code === 'not_configured')) return null;
  throw error;
}

/** The only provider of `readProviders`, or the one that is named. */
async function chooseProvider(
  deps: own.PassedDeps,
  principal: Principal,
  named: string | undefined,
  of: own.PassedPath,
): Promise<ProviderAccess> {
  if (named !== undefined) {
    const access = await deps.directory.provider(principal.workspace, named);
    const what = of === 'files' ? 'files' : 'batches';
    if (!has(of, access))
      throw invalidRequest([
        { path: 'provider', message: `${quoted(named)} is of kind ${access.kind}, which has no ${what} here: ${kindsText(of)}` },
      ]);
    if ((await allowedProviders(deps, principal, of))(named)) return access;
    const detail = `The ${what} of a provider can name any of its models: a list of \`models\` must have ${quoted(`${named}/*`)}. Use another key or provider.`;
    throw new Problem('forbidden', detail, { param: 'provider' });
  }
  const capable = await readProviders(deps, principal, of);
  const [only] = capable;
  if (only !== undefined && capable.length === 1) return only;
  const choices = capable.map(({ name }) => name).join(', ');
  const message =
    only === undefined
      ? `there is no provider with ${of} for this key: ${kindsText(of)}`
      : `name one of ${choices}, or send x-moniker-provider`;
  throw invalidRequest([{ path: 'provider', message }]);
}

function kindsText(of: own.PassedPath): string {
  return of === 'messages/batches'
    ? 'those of kind anthropic have them'
    : 'those of kind openai, openai-responses and openai-compatible have them';
}

/** What a batch uses is only known when it has ended. */
async function requireNoUseLimits({ directory }: own.PassedDeps, principal: Principal): Promise<void> {
  const limited = (await readLimits(directory, principal)).find(({ limits }) => countsUse(limits));
  if (limited === undefined) return;
  const detail = `Batches cannot be counted for the limits of tokens or cost of ${nameHolder(limited)}. Use a key without them.`;
  throw new Problem('forbidden', detail, { of: limited.of, name: limited.name });
}

/** Aborts the request of a form that is too long or breaks off: if only its stream failed, the provider would store what had arrived of it. */
function boundedForm({ form, length }: { form: ReadableStream<Uint8Array>; length: string | null }) {
  const tooLarge = new Problem('body_too_large', `A form may have at most ${maxFileBytes} bytes.`);
  if (length !== null && Number(length) > maxFileBytes) throw tooLarge;
  // The runtime ends a body at its declared length, and sends that on.
  if (length !== null) return { stream: form, signal: undefined, fault: () => null };
  const abort = new AbortController();
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes <= maxFileBytes) controller.enqueue(piece);
      else controller.error(tooLarge);
    },
  });
  form.pipeTo(counted.writable).catch((error: unknown) => abort.abort(error));
  return { stream: counted.readable, signal: abort.signal, fault: () => (bytes > maxFileBytes ? tooLarge : null) };
}
