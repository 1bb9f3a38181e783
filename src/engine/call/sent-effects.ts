/**
 * What a call has sent that may have had an effect, so that a call whose answer is missing says so: for every kind of tool, whether its connection broke,
 * its program ended, or it took too long. Used by `execute-call.ts`.
 */
import { Problem } from '../../core/problem.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { ToolOutcome } from '../../ports/tool-executor.ts';
import { isReadRequest } from '../policy/refusals.ts';

/** What a model reads of a call that must not be repeated unseen. */
const mayHaveHappened = 'It may or may not have had its effect: check before you repeat it.';

/** Requests of one call that are named at most. */
const maxNamed = 5;

export class SentEffects {
  /** The call may be made again. */
  readonly isSafe: boolean;
  /** Returns a nested call that must not be made twice and was made; null: none. */
  readonly #called: () => string | null;
  readonly #lost = new Set<string>();
  #sent = 0;

  constructor(isSafe: boolean, called: () => string | null) {
    this.isSafe = isSafe;
    this.#called = called;
  }

  /** Whether the call may have had an effect that must not be repeated. */
  get any(): boolean {
    return (!this.isSafe && this.#sent > 0) || this.#called() !== null;
  }

  /** Called before something is sent that may have an effect. */
  mark(): void {
    this.#sent += 1;
  }

  /** Sends a request of the tool. `send` calls its argument once nothing refuses the request. */
  async watch(request: Request, send: (onSend: () => void) => Promise<Response>): Promise<Response> {
    if (isReadRequest(request)) return await send(() => undefined);
    let isSent = false;
    try {
      return await send(() => {
        isSent = true;
        this.mark();
      });
    } catch (error) {
      if (!isSent || !(error instanceof Problem)) throw error;
      if (error.extra.sent === false) this.#sent -= 1;
      else if (this.#lost.size < maxNamed) this.#lost.add(`${request.method} ${new URL(request.url).host}`);
      throw error;
    }
  }

  /** Returns the result of a call that was stopped after `ms`. */
  late(canonical: string, ms: number): ToolResult {
    const text = `${canonical} did not finish within ${ms / 1000} s and was stopped.`;
    if (this.any) return errorResult('outcome_unknown', `${text} ${mayHaveHappened}`);
    return errorResult('timeout', `${text} Try again with less work in one call.`);
  }

  /** Returns what is known of a call that the tool has ended. A script may have continued after a request whose answer is missing. */
  settle(outcome: ToolOutcome): ToolOutcome {
    if (this.isSafe || outcome.suspended === true) return outcome;
    const isUnanswered = outcome.failed === 'unanswered';
    if (!isUnanswered && this.#lost.size === 0) return outcome;
    const text = isUnanswered ? mayHaveHappened : `[${[...this.#lost].join(', ')}: sent, but not answered. ${mayHaveHappened}]`;
    const noted = { ...outcome, content: [...outcome.content, { type: 'text' as const, text }] };
    return outcome.isError ? { ...noted, code: 'outcome_unknown' } : noted;
  }
}

/**
 * Runs a tool, and a safe one once more if its answer is missing for another reason than time, such as a connection that was kept open and that the server has
 * closed.
 */
export async function runRepeatably(execute: () => Promise<ToolOutcome>, effects: SentEffects, signal: AbortSignal): Promise<ToolOutcome> {
  const first = await execute();
  if (!effects.isSafe || first.failed !== 'unanswered' || first.code === 'timeout' || signal.aborted) return effects.settle(first);
  const second = await execute();
  // The first says more than that, for example, the program is not started again at once.
  return second.failed === 'unsent' ? first : second;
}

/** The result of a call whose request failed: one rule for every kind of tool. `canonical`: null: the detail is enough. */
export function failedCall(canonical: string | null, { code, detail, extra }: Problem): ToolOutcome {
  const text = canonical === null ? detail : `${canonical} failed: ${detail}`;
  const isLost = extra.sent === true || code === 'upstream_timeout';
  const failed = extra.sent === false ? 'unsent' : isLost ? 'unanswered' : 'rejected';
  return { ...errorResult(code === 'upstream_timeout' ? 'timeout' : 'tool_error', text), failed };
}
