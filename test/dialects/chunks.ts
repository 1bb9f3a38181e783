/** Chunks of a chat stream as the tests of this folder look at them. */

export type Chunk = {
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
  error?: { code: string; message: string };
};

/** What each frame says, in order: its deltas, the reason it finishes with, the code of its error, or [DONE]. */
export const deltas = (list: (Chunk | '[DONE]')[]) =>
  list.flatMap((frame) =>
    frame === '[DONE]'
      ? ['[DONE]']
      : frame.error
        ? [frame.error.code]
        : frame.choices.map((choice) => choice.finish_reason ?? choice.delta),
  );
