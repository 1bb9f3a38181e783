/** The events of a replay (`core/replay/replay.ts`), which are all that its log has: one of its cases has ended, or all of it. */
export const replayStatuses = ['running', 'completed', 'cancelled', 'stopped', 'failed'] as const;
export const replayCaseStatuses = ['waiting', 'running', 'same', 'different', 'ended', 'failed', 'unreadable', 'skipped'] as const;
