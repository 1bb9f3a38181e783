/**
 * A call that stays open while its caller comes and goes: a server of the 2025 eras asks in the middle of its call, and a client of
 * 2026-07-28 answers with a request of its own. Lives in memory, with the connection to the server: whoever keeps one (a Durable Object, for
 * MCP clients) has to stay awake for it, and after a restart it is lost, which is told as such. Which calls need it is
 * `mustHold`'s to say.
 */
import type { EditionTool } from '../../core/edition-tool.ts';
import { callsTools } from '../../core/composite-tool.ts';
import { cancelled } from '../../core/elicitation.ts';
import { limits } from '../../core/limits.ts';
import { canElicit, type AskableInput, type InputAnswer, type InputRequest } from '../../core/mcp-input.ts';
import { orNull } from '../../core/problem.ts';
import type { Directory } from '../../ports/catalog.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { CallerChannel } from '../../ports/tool-executor.ts';
import type { CallOutcome } from '../tool-call.ts';

/** What a call has come to: its end, or questions that wait for an answer. */
export type HeldNews = { outcome: CallOutcome } | { asks: Record<string, InputRequest> };

/** Where calls are kept open. One keeps one call. */
export interface CallHold {
  /** Unguessable. Goes into the word that the client brings back (`ServedState.held`). */
  readonly name: string;
  /** null: none was begun here since this process is alive. */
  readonly call: HeldCall | null;
  /** The one that was begun has ended, in this process or one before. */
  readonly isOver: boolean;
  keep(call: HeldCall): void;
  /** Durably, before the effect. */
  started(callId: string): void;
}

type Question = { request: InputRequest; answer(answer: InputAnswer): void };

export class HeldCall {
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #open = new Map<string, Question>();
  readonly #waiting = new Set<AbortSignal>();
  /** Whoever waits now. */
  #channel: CallerChannel;
  #asked = 0;
  #news = Promise.withResolvers<null>();
  readonly #outcome: Promise<CallOutcome>;

  /** `run` begins at once. */
  constructor(clock: Clock, first: CallerChannel, run: (channel: CallerChannel, signal: AbortSignal) => Promise<CallOutcome>) {
    this.#clock = clock;
    this.#channel = first;
    const channel: CallerChannel = {
      progress: (update) => this.#channel.progress?.(update),
      notice: (line) => this.#channel.notice?.(line),
      ask: (request) => this.#ask(request),
    };
    this.#outcome = run(channel, this.#end.signal);
    // Whoever waits hears of it; before that it is nobody's.
    this.#outcome.catch(() => undefined);
  }

  /** Ends it, as when its caller leaves. */
  stop(reason: Error): void {
    this.#end.abort(reason);
  }

  /** Resolves when it has ended, however. */
  get over(): Promise<void> {
    return this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /** What was not asked, or is answered already, is passed over: the same answer twice is one. */
  answer(answers: Readonly<Record<string, InputAnswer>>): void {
    for (const [key, answer] of Object.entries(answers)) this.#open.get(key)?.answer(answer);
  }

  /**
   * What there is to say next. A caller who leaves while it waits has given the call up (2026-07-28: closing the stream is how a request is
   * cancelled), unless another waits for the same.
   */
  async next(channel: CallerChannel, signal: AbortSignal): Promise<HeldNews> {
    this.#channel = channel;
    this.#waiting.add(signal);
    const leave = (): void => {
      this.#waiting.delete(signal);
      if (this.#waiting.size === 0) this.#end.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        if (this.#open.size > 0) return { asks: Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request])) };
        const outcome = await Promise.race([this.#outcome, this.#news.promise]);
        if (outcome !== null) return { outcome };
      }
    } finally {
      signal.removeEventListener('abort', leave);
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
      const disarm = this.#clock.after(limits.heldQuestionMs, drop);
      this.#end.signal.addEventListener('abort', drop, { once: true });
      this.#open.set(key, { request, answer: settle });
      const { resolve: tell } = this.#news;
      this.#news = Promise.withResolvers();
      tell(null);
    });
  }
}

/**
 * Said before the call, since an open one cannot move: its server speaks a revision in which it asks on the open connection, or calls beneath
 * it may have to be asked for, and the client, whose requests end with a question, could be asked.
 */
export async function mustHold(
  directory: Pick<Directory, 'server'>,
  workspace: string,
  tool: EditionTool,
  askable: AskableInput,
  args: unknown,
): Promise<boolean> {
  if (callsTools(tool)) return canElicit(askable, 'form') && mayCall(tool, args);
  if (tool.kind !== 'mcp' || (askable.elicitation === undefined && askable.sampling === undefined)) return false;
  const server = await orNull(directory.server(workspace, tool.server));
  if (server === null) return false;
  const { era = 'auto', sampling } = server.mcp ?? {};
  if ((era === 'auto' ? server.connection?.era : era) !== 'legacy') return false;
  return askable.elicitation !== undefined || sampling === true;
}

/** A script that has no such word calls none: one that puts it together goes without being asked, and is told so. */
function mayCall({ canonical }: EditionTool, args: unknown): boolean {
  return canonical !== 'builtin.bash' || JSON.stringify(args ?? null).includes('tool');
}
