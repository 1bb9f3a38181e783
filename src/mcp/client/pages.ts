/**
 * Calls that a server refuses until the user has completed a page (2025-11-25, "URL Elicitation Required Error", -32042; 2026-07-28 has none).
 * The user is asked once. Then the call is repeated when the server reports the page as completed (`notifications/elicitation/complete`),
 * and from time to time, since servers need not report it and some name another page in every refusal.
 */
import { backoffMs } from '../../core/limits/backoff.ts';
import { limits } from '../../core/limits/limits.ts';
import { isRecord, listOf, recordOf } from '../../core/json/wire-value.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import { questionText } from '../../core/servers/elicitation.ts';
import { allAskableInput, canElicit, type InputAnswer, type InputRequest } from '../../core/tools/mcp-input.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamCall, UpstreamHooks } from '../../ports/upstream.ts';
import { rpcCodes } from '../server/rpc-fault.ts';
import type { Connection } from './connection.ts';
import { type OpenedPage, readRequestState, type RoundOutcome, screenInputRequests, toInputRequest } from './input-rounds.ts';

/** How long a call waits for a page that the user has opened. */
const pageWaitMs = 5 * 60_000;
/** Between two attempts. Each is also a sign of life for the caller, whose timeout is 60 s in the SDKs. */
const pageBackoff = { firstMs: 1_000, maxMs: 15_000 };

/** The pages that a server reported as completed on one connection. */
export class CompletedPages {
  readonly #ids = new Set<string>();
  #news = Promise.withResolvers<void>();

  note(id: string): void {
    if (this.#ids.size >= limits.maxInputRequests) return;
    this.#ids.add(id);
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  includes(pages: readonly OpenedPage[]): boolean {
    return pages.every(({ id }) => id !== undefined && this.#ids.has(id));
  }

  /** Resolves with the next report, or after `ms`. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    const late = systemClock.sleep(ms, AbortSignal.any([signal, end.signal]));
    // After a report, its end has no receiver.
    late.catch(() => undefined);
    try {
      await Promise.race([this.#news.promise, late]);
    } finally {
      end.abort();
    }
  }
}

/** `attempt` makes the call and throws the server's error. */
export async function answerPages(
  connection: Connection,
  server: ServerAccess,
  hooks: UpstreamHooks,
  { name, given }: UpstreamCall,
  completed: CompletedPages,
  attempt: () => Promise<RoundOutcome>,
): Promise<RoundOutcome> {
  let opened = readRequestState(given?.state).pages ?? [];
  if (opened.length > 0 && !isAccepted(given?.responses ?? {})) return notOpened(name);
  let endsAt = systemClock.now() + pageWaitMs;
  let questions = 0;
  let isRepeated = false;
  for (let round = 1; ; round += 1) {
    try {
      return await attempt();
    } catch (error) {
      const requests = pagesIn(server, error);
      const pages = Object.values(requests).map(toPage);
      if (pages.length === 0 || !canElicit(hooks.askable ?? {}, 'url')) throw error;
      if (isAnother(pages, opened, completed)) {
        questions += 1;
        if (questions > limits.maxInputRounds) throw error;
        if (hooks.isLive !== true || hooks.ask === undefined) {
          const all = [...opened, ...pages].slice(-limits.maxInputRequests);
          return { kind: 'input-required', input: toInputRequest(requests, { own: {}, pages: all }) };
        }
        if (!(await askAll(connection, hooks.ask, requests))) return notOpened(name);
        opened = pages;
        endsAt = systemClock.now() + pageWaitMs;
        isRepeated = false;
      }
      // At once after the first report, and after later ones as after none.
      if (!isRepeated && completed.includes(opened)) {
        isRepeated = true;
        continue;
      }
      const leftMs = endsAt - systemClock.now();
      if (leftMs <= 0) throw error;
      hooks.progress?.({ progress: round, message: 'Waiting until the user has completed the page.' });
      const pauseMs = Math.min(leftMs, backoffMs(pageBackoff, round));
      await connection.idleTimeout.pauseDuring(completed.next(pauseMs, connection.signal));
    }
  }
}

/** Says which pages an error of a server requires; empty: none. For callers that cannot be asked. */
export function pagesText(server: ServerAccess, error: unknown): string {
  const requests = pagesIn(server, error);
  return Object.keys(requests).length === 0 ? '' : ` ${questionText(requests)} Then call the tool again.`;
}

/** Returns the screened pages of an error, each once; none for another error. */
function pagesIn(server: ServerAccess, error: unknown): Record<string, InputRequest> {
  const { code, data } = error instanceof ServerRpcError ? error.rpc : {};
  if (code !== rpcCodes.openPage || !isRecord(data)) return {};
  const byUrl = new Map(
    listOf(data.elicitations).map((written): [string, InputRequest] => {
      const params = { ...recordOf(written), mode: 'url' };
      return [String(recordOf(written).url), { method: 'elicitation/create', params }];
    }),
  );
  const asked = Object.fromEntries([...byUrl.values()].map((request, index) => [String(index), request]));
  return screenInputRequests(server, allAskableInput, asked).others;
}

function toPage({ params }: InputRequest): OpenedPage {
  const { url, elicitationId: id } = params;
  return { host: new URL(String(url)).host, ...(typeof id === 'string' && { id }) };
}

/** Whether the user has to be asked: about the first page, one of another host, or one that follows a completed page. */
function isAnother(pages: readonly OpenedPage[], opened: readonly OpenedPage[], completed: CompletedPages): boolean {
  if (opened.length === 0) return true;
  const isDone = completed.includes(opened);
  return pages.some(({ host, id }) => !opened.some((page) => page.host === host && (!isDone || page.id === id)));
}

async function askAll(
  { idleTimeout }: Connection,
  ask: NonNullable<UpstreamHooks['ask']>,
  requests: Readonly<Record<string, InputRequest>>,
): Promise<boolean> {
  for (const [key, request] of Object.entries(requests)) {
    if (!isAccepted({ [key]: await idleTimeout.pauseDuring(ask(request, key)) })) return false;
  }
  return true;
}

function isAccepted(answers: Readonly<Record<string, InputAnswer>>): boolean {
  return Object.values(answers).every(({ action }) => action === 'accept');
}

function notOpened(name: string): RoundOutcome {
  const text = `${name} was not run: its server requires that the user opens a page, and the user did not open it.`;
  return { kind: 'result', result: { isError: true, content: [{ type: 'text', text }] } };
}
