/**
 * Replays every recorded reply of one API in many cuts: each file results in the calls, text and finish that the corpus expects, and in the
 * same events for any cuts. Prints the number of files and cuts.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Adapter } from '../../src/providers/adapter.ts';
import { responseProblem } from '../../src/providers/provider-error.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { access, bodyOf, cutsOf, gather, merge, readCuts, type Recording, type Whole } from './replies.ts';
import { printStatistics } from '../statistics.ts';

/** The files of the corpus, by API: a recording that is lost would not be missed otherwise. */
export const recordedFiles = { 'openai-chat': 76, 'openai-responses': 28, gemini: 28, anthropic: 26, 'cohere-v2': 16 } as const;

export type RecordedApi = {
  /** As in `index.json`. */
  api: keyof typeof recordedFiles;
  adapter: Adapter;
  /** The marker after payloads of files without framing. */
  endMark?: string;
  /** Files that deliberately differ from the corpus: the checks, with the reason above each. */
  otherwise?: Readonly<Record<string, (whole: Whole, recording: Recording) => void>>;
};

export function describeRecorded({ api, adapter, endMark, otherwise = {} }: RecordedApi): void {
  describeCorpus('providers', (path) => {
    const recordings = readJson<Recording[]>(join(path, 'index.json')).filter((recording) => recording.api === api);
    const replies = recordings.filter((recording) => (recording.httpStatus ?? 200) === 200);
    const errors = recordings.filter((recording) => (recording.httpStatus ?? 200) >= 400);
    let met = 0;
    let cuttings = 0;

    it.each(replies.map((recording) => [recording.file, recording] as const))(
      '%s gives its calls, text and finish however it is cut',
      (file, recording) => {
        const body = bodyOf(join(path, file), endMark);
        const whole = merge(readCuts(adapter, [body], recording.streamed));
        const checkThis = otherwise[file] ?? check;
        checkThis(gather(whole), recording);
        met += 1;
        if (!recording.streamed) {
          cuttings += 1;
          return;
        }
        for (const [name, cuts] of cutsOf(body, recording)) {
          expect(merge(readCuts(adapter, cuts, true)), name).toEqual(whole);
          cuttings += 1;
        }
      },
    );

    it.each(errors.map((recording) => [recording.file, recording] as const))('%s is an error of the provider', async (file, recording) => {
      const status = recording.httpStatus ?? 500;
      const problem = await responseProblem(access, new Response(bodyOf(join(path, file)).slice(), { status }), 0);
      expect(problem.extra).toMatchObject({ provider: 'recorded', upstreamStatus: status, retryable: false });
      expect(problem.detail).toContain(recording.expected.error?.message?.slice(0, 60));
      met += 1;
    });

    it('covers every recorded reply', () => {
      printStatistics(
        `${api}: ${met} of ${recordings.length} files as expected (${Object.keys(otherwise).length} otherwise, named in the test), ${cuttings} cuttings: whole, per byte, by sevens, random, as recorded`,
      );
      expect(met).toBe(recordedFiles[api]);
      expect(cuttings).toBeGreaterThanOrEqual(replies.length);
    });
  });
}

export function check(whole: Whole, { expected, file }: Recording): void {
  expect(whole.text).toBe(expected.text);
  expect(whole.reasoning).toBe((expected.reasoning ?? '') + (expected.toolPlan ?? ''));
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
    expect(whole.error).toContain(expected.error.message?.slice(0, 40) ?? '');
    return;
  }
  expect(whole.error).toBeUndefined();
  expect(whole.finish).toBe(expected.finishReason);
  const hasTruncated = (expected.toolCalls ?? []).some((call) => call.truncated);
  if (hasTruncated) expect(whole.reason, file).toBe('length');
  else if ((expected.toolCalls ?? []).length > 0) expect(whole.reason).toBe('tool-calls');
}
