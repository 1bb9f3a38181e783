import { join } from 'node:path';
import { expect, it } from 'vitest';
import { responseProblem } from '../../src/providers/provider-error.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { access, bodyOf, cutsOf, gather, merge, readCuts, type Recording, type Whole } from './replies.ts';

describeCorpus('providers', (path) => {
  const recordings = readJson<Recording[]>(join(path, 'index.json')).filter((recording) => recording.api === 'openai-chat');
  const replies = recordings.filter((recording) => (recording.httpStatus ?? 200) === 200);
  let cuttings = 0;

  it.each(replies.map((recording) => [recording.file, recording] as const))(
    '%s gives its calls, text and finish however it is cut',
    (file, recording) => {
      const body = bodyOf(join(path, file));
      const whole = merge(readCuts([body], recording.streamed));
      check(gather(whole), recording);
      if (!recording.streamed) {
        cuttings += 1;
        return;
      }
      for (const [name, cuts] of cutsOf(body, recording)) {
        expect(merge(readCuts(cuts, true)), name).toEqual(whole);
        cuttings += 1;
      }
    },
  );

  it.each(recordings.filter((recording) => (recording.httpStatus ?? 200) >= 400).map((recording) => [recording.file, recording] as const))(
    '%s is an error of the provider',
    async (file, recording) => {
      const problem = await responseProblem(
        access,
        new Response(bodyOf(join(path, file)).slice(), { status: recording.httpStatus ?? 500 }),
        0,
      );
      expect(problem).toMatchObject({
        code: 'upstream_error',
        extra: { provider: 'recorded', upstreamStatus: recording.httpStatus, retryable: false },
      });
      expect(problem.detail).toContain(recording.expected.error?.message.slice(0, 60));
    },
  );

  it('covers every recorded reply', () => {
    console.log(`${replies.length} recorded replies, ${cuttings} cuttings`);
    expect(replies.length).toBeGreaterThan(60);
    expect(cuttings).toBeGreaterThan(replies.length * 5);
  });
});

function check(whole: Whole, { expected, file }: Recording): void {
  expect(whole.text).toBe(expected.text);
  expect(whole.reasoning).toBe(expected.reasoning ?? '');
  expect(whole.refusal).toBe(expected.refusal ?? '');
  expect(whole.calls.map((call) => call.name)).toEqual((expected.toolCalls ?? []).map((call) => call.name));
  for (const [index, wanted] of (expected.toolCalls ?? []).entries()) {
    const call = whole.calls[index];
    expect(call?.nativeId).toBe(wanted.id || null);
    if (wanted.kind === 'custom') {
      expect(call).toMatchObject({ state: 'ok', arguments: { input: wanted.input }, raw: wanted.input });
    } else if (wanted.truncated) {
      expect(call).toMatchObject({ state: 'truncated', arguments: null, raw: wanted.argumentsRaw });
    } else {
      expect(call).toMatchObject({ state: 'ok', arguments: wanted.arguments });
      if (wanted.argumentsRaw !== undefined) expect(call?.raw).toBe(wanted.argumentsRaw);
      expect(JSON.parse(call?.deltas || '{}')).toEqual(wanted.arguments);
    }
  }
  if (expected.error !== undefined) {
    expect(whole.finish).toBeUndefined();
    expect(whole.error).toContain(expected.error.message.slice(0, 40));
    return;
  }
  expect(whole.error).toBeUndefined();
  expect(whole.finish).toBe(expected.finishReason);
  const hasTruncated = (expected.toolCalls ?? []).some((call) => call.truncated);
  if (hasTruncated) expect(whole.reason, file).toBe('length');
  else if ((expected.toolCalls ?? []).length > 0) expect(whole.reason).toBe('tool-calls');
}
