/**
 * An in-flight call that outlives its request: a server of the 2025 revisions asks a question in the middle of its call, and a client of
 * 2026-07-28 answers with a new request. Lives in memory with the connection to the server, so its host (a Durable Object, for MCP clients)
 * must stay awake; a restart loses the call, which its client gets as an error. `mustHold` decides which calls need this.
 */
import type { CallerChannel } from '../../ports/upstream.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import { callToolCanonical } from '../../core/toolset/injected-tool.ts';
import { cancelled } from '../../core/servers/elicitation.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/tools/mcp-input.ts';
import { nullIfNotFound } from '../../core/problem.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { CallOutcome } from '../call/tool-call.ts';

/** The same if the call is held open for a client of 2026-07-28, which may never return; then its server receives `cancel`. */
export const heldQuestionMs = 5 * 60_000;

/** The next state of the call: its outcome, or questions that wait for an answer. */
export type InFlightCallUpdate = { outcome: CallOutcome } | { asks: Record<string, InputRequest> };

/** A place that keeps one call in flight. */
export interface InFlightCallSlot {
  /** Unguessable. Part of the state that the client sends back (`ServedState.held`). */
  readonly name: string;
  /** null: no call was started in this process. */
  readonly call: InFlightCall | null;
  /** Whether the started call has ended, in this process or an earlier one. */
  readonly hasEnded: boolean;
  store(call: InFlightCall): void;
  /** Records the start durably, before the effect. */
  started(callId: string): void;
}

type Question = { request: InputRequest; answer(answer: InputAnswer): void };

export class InFlightCall {
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #open = new Map<string, Question>();
  readonly #waiting = new Set<AbortSignal>();
  /** The channel of the request that waits at present. */
  #channel: CallerChannel;
  #asked = 0;
  #news = Promise.withResolvers<null>();
  readonly #outcome: Promise<CallOutcome>;

  /** `run` starts at once. */
  constructor(clock: Clock, first: CallerChannel, run: (channel: CallerChannel, signal: AbortSignal) => Promise<CallOutcome>) {
    this.#clock = clock;
    this.#channel = first;
    const channel: CallerChannel = {
      ...(first.meta && { meta: first.meta }),
      ...(first.logLevel !== undefined && { logLevel: first.logLevel }),
      progress: (update) => this.#channel.progress?.(update),
      notice: (line) => this.#channel.notice?.(line),
      ask: (request) => this.#ask(request),
    };
    this.#outcome = run(channel, this.#end.signal);
    // A waiting request receives the rejection; without one it must not be reported as unhandled.
    this.#outcome.catch(() => undefined);
  }

  /** Aborts the call, as when its client disconnects. */
  stop(reason: Error): void {
    this.#end.abort(reason);
  }

  /** Resolves when the call has ended, with any outcome. */
  get ended(): Promise<void> {
    return this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /** Ignores answers to questions that were not asked or are already answered. */
  answer(answers: Readonly<Record<string, InputAnswer>>): void {
    for (const [key, answer] of Object.entries(answers)) this.#open.get(key)?.answer(answer);
  }

  /**
   * Waits for the next state. If a client disconnects while it waits, the call is cancelled (2026-07-28: closing the stream cancels a
   * request), unless another request waits for it.
   */
  async next(channel: CallerChannel, signal: AbortSignal): Promise<InFlightCallUpdate> {
    this.#channel = channel;
    this.#waiting.add(signal);
    const onDisconnect = (): void => {
      this.#waiting.delete(signal);
      if (this.#waiting.size === 0) this.#end.abort(signal.reason);
    };
    if (signal.aborted) onDisconnect();
    else signal.addEventListener('abort', onDisconnect, { once: true });
    try {
      for (;;) {
        if (this.#open.size > 0) return { asks: Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request])) };
        const outcome = await Promise.race([this.#outcome, this.#news.promise]);
        if (outcome !== null) return { outcome };
      }
    } finally {
      signal.removeEventListener('abort', onDisconnect);
      this.#waiting.delete(signal);
    }
  }

  #ask(request: InputRequest): Promise<InputAnswer> {
    this.#asked += 1;
    const key = `question-${this.#asked}`;
    return new Promise((resolve) => {
      const settle = (answer: InputAnswer): void => {
        this.#open.delete(key);
        disarm();
        this.#end.signal.removeEventListener('abort', drop);
        resolve(answer);
      };
      const drop = (): void => settle(cancelled);
      const disarm = this.#clock.after(heldQuestionMs, drop);
      this.#end.signal.addEventListener('abort', drop, { once: true });
      this.#open.set(key, { request, answer: settle });
      const { resolve: notify } = this.#news;
      this.#news = Promise.withResolvers();
      notify(null);
    });
  }
}

/**
 * Whether a call must stay in flight between requests, decided before it starts, since a running call cannot be moved: its server speaks a
 * revision that asks on the open connection, or its nested calls may require an approval that this client can give.
 */
export async function needsOpenConnection(
  directory: Pick<Directory, 'server'>,
  workspace: string,
  tool: EditionTool,
  askable: AskableInput,
  args: unknown,
): Promise<boolean> {
  // Which tool it calls is decided later.
  if (tool.canonical === callToolCanonical) return askable.elicitation !== undefined || askable.sampling !== undefined;
  if (callsTools(tool)) return canElicit(askable, 'form') && mayCall(tool, args);
  if (tool.kind !== 'mcp' || (askable.elicitation === undefined && askable.sampling === undefined)) return false;
  const server = await nullIfNotFound(directory.server(workspace, tool.server));
  if (server === null) return false;
  const { era = 'auto', sampling } = server.mcp ?? {};
  if ((era === 'auto' ? server.connection?.era : era) !== 'legacy') return false;
  return askable.elicitation !== undefined || sampling === true;
}

/** A script without the word `tool` makes no nested calls. If it composes the word, its calls cannot ask and are refused with an error. */
function mayCall({ canonical }: EditionTool, args: unknown): boolean {
  return canonical !== 'builtin.bash' || JSON.stringify(args ?? null).includes('tool');
}
