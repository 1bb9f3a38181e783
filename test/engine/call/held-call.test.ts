import { describe, expect, it } from 'vitest';
import type { InputAnswer } from '../../../src/core/tools/mcp-input.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { InFlightCall } from '../../../src/engine/mcp/in-flight-call.ts';
import type { CallOutcome } from '../../../src/engine/call/tool-call.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { heldQuestionMs } from '../../../src/engine/mcp/in-flight-call.ts';

const form = (message: string) => ({ method: 'elicitation/create', params: { message } });
const ended = (text: string): CallOutcome => ({
  answer: { requested: 'ask', canonical: 'files.ask', via: 'wire', ran: true, result: textResult(text), durationMs: 1 },
});
const waiting = () => new AbortController().signal;

/** A call that asks these questions one after the other, and returns the answers. */
function asking(questions: readonly string[]) {
  const clock = fakeClock();
  const answers: InputAnswer[] = [];
  let until: AbortSignal | undefined;
  const call = new InFlightCall(clock, {}, async ({ ask }, signal) => {
    until = signal;
    for (const question of questions) answers.push((await ask?.(form(question), 'own')) ?? {});
    return ended('done');
  });
  return { call, clock, answers, isStopped: () => until?.aborted === true };
}

describe('an in-flight call', () => {
  it('continues from question to question to its end', async () => {
    const { call, answers } = asking(['one', 'two']);
    expect(await call.next({}, waiting())).toEqual({ asks: { 'question-1': form('one') } });
    call.answer({ 'question-1': { action: 'decline' } });
    expect(await call.next({}, waiting())).toEqual({ asks: { 'question-2': form('two') } });
    // Answers to answered or unknown questions are ignored.
    call.answer({ 'question-1': { action: 'accept' }, 'question-3': { action: 'accept' } });
    call.answer({ 'question-2': { action: 'accept' } });
    expect(await call.next({}, waiting())).toEqual({ outcome: ended('done') });
    expect(await call.next({}, waiting())).toEqual({ outcome: ended('done') });
    expect(answers).toEqual([{ action: 'decline' }, { action: 'accept' }]);
  });

  it('continues when a client disconnects after a question, and gets "cancel" when no client returns', async () => {
    const { call, clock, answers, isStopped } = asking(['one']);
    const asked = new AbortController();
    await call.next({}, asked.signal);
    asked.abort(new Error('the answer was sent'));
    await clock.advance(heldQuestionMs - 1);
    expect([isStopped(), answers]).toEqual([false, []]);
    await clock.advance(1);
    await call.ended;
    expect(answers).toEqual([{ action: 'cancel' }]);
  });

  it('sends its progress to the client that waits at the time', async () => {
    const told: string[] = [];
    const to = (who: string) => ({ progress: () => void told.push(who) });
    const call = new InFlightCall(fakeClock(), to('first'), async ({ ask, progress }) => {
      progress?.({ progress: 1 });
      await ask?.(form('one'), 'own');
      progress?.({ progress: 2 });
      await ask?.(form('two'), 'own');
      return ended('done');
    });
    await call.next(to('first'), waiting());
    call.answer({ 'question-1': { action: 'accept' } });
    await call.next(to('second'), waiting());
    expect(told).toEqual(['first', 'second']);
  });

  it('ends when it is stopped, also while no client waits', async () => {
    const call = new InFlightCall(fakeClock(), {}, async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return ended('aborted');
    });
    call.stop(new Error('the key was revoked'));
    await call.ended;
    expect(await call.next({}, new AbortController().signal)).toEqual({ outcome: ended('aborted') });
  });

  it('is cancelled when the last waiting client disconnects', async () => {
    let until: AbortSignal | undefined;
    const call = new InFlightCall(fakeClock(), {}, (_, signal) => {
      until = signal;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(ended('aborted'))));
    });
    const [one, other] = [new AbortController(), new AbortController()];
    const both = [call.next({}, one.signal), call.next({}, other.signal)];
    one.abort(new Error('left'));
    expect(until?.aborted).toBe(false);
    other.abort(new Error('left'));
    expect(until?.aborted).toBe(true);
    expect(await Promise.all(both)).toEqual([{ outcome: ended('aborted') }, { outcome: ended('aborted') }]);
  });
});
