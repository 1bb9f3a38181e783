/** Chunks of a chat stream, for the tests of this folder. */

export type Chunk = {
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
  usage?: unknown;
  error?: { code: string; message: string };
};

/** The content of each frame, in order: its deltas, its finish reason, the code of its error, or [DONE]. */
export const deltas = (list: (Chunk | '[DONE]')[]) =>
  list.flatMap((frame) =>
    frame === '[DONE]'
      ? ['[DONE]']
      : frame.error
        ? [frame.error.code]
        : frame.choices.map((choice) => choice.finish_reason ?? choice.delta),
  );
