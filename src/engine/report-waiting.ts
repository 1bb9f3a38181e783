/** Signs of life for a caller while a person is asked: the SDKs of MCP end a request after 60 s without progress. */
import type { CallerChannel } from '../ports/upstream.ts';
import type { Clock } from '../ports/runtime.ts';

const reportMs = 15_000;
export const waitingForUser = 'Waiting for the answer of the user.';

/** Reports progress every 15 s until `work` has settled; the value is the time in seconds. Without `progress` only waits. */
export async function reportWaiting<T>(
  clock: Pick<Clock, 'after'>,
  progress: CallerChannel['progress'],
  message: string,
  work: Promise<T>,
): Promise<T> {
  if (progress === undefined) return await work;
  let seconds = 0;
  let disarm = (): void => undefined;
  const arm = (): void => {
    disarm = clock.after(reportMs, () => {
      seconds += reportMs / 1_000;
      progress({ progress: seconds, message });
      arm();
    });
  };
  arm();
  try {
    return await work;
  } finally {
    disarm();
  }
}

/** Returns the channel with signs of life while its `ask` waits. */
export function withWaitingReports(clock: Pick<Clock, 'after'>, channel: CallerChannel): CallerChannel {
  const { ask, progress } = channel;
  if (ask === undefined || progress === undefined) return channel;
  return { ...channel, ask: (request, key) => reportWaiting(clock, progress, waitingForUser, ask(request, key)) };
}
