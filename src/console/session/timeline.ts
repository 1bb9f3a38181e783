/** Where the time of a turn went, as rows of bars: one for each answer of the model and each call. Pure. */
import type { Call, TurnRecord } from './fold-events.ts';

export type Bar = { kind: 'model' | 'run' | 'wait' | 'failed'; from: number; to: number };
export type TimelineRow = {
  key: string;
  label: string;
  depth: number;
  bars: Bar[];
  runMs: number;
  waitMs: number;
  isFailed: boolean;
  isWaiting: boolean;
  /** How often the step began again, for example after a restart of the service. */
  restarts: number;
  /** null: an answer of the model. */
  call: Call | null;
};
export type TimelineScale = 'sequence' | 'real';

/** `now`: the end of what is still open. */
export function timelineRows(turn: TurnRecord, now: number): TimelineRow[] {
  const end = turn.endAt ?? now;
  return turn.steps.flatMap((step) => {
    const stepEnd = step.endAt ?? end;
    const bars: Bar[] = [{ kind: 'model', from: step.startAt, to: stepEnd }];
    const model = {
      key: `step ${step.number}`,
      label: `Model, step ${step.number}`,
      depth: 0,
      bars,
      waitMs: 0,
      isFailed: false,
      isWaiting: false,
      restarts: step.restarts,
      call: null,
    };
    const calls = step.blocks.flatMap((block) => (block.kind === 'call' ? callRows(block.call, end, 1) : []));
    return [{ ...model, runMs: stepEnd - step.startAt }, ...calls];
  });
}

function callRows(call: Call, end: number, depth: number): TimelineRow[] {
  const isFailed = call.state === 'failed' || call.state === 'denied';
  const bars = call.segments.map(
    ({ kind, from, to }): Bar => ({ kind: kind === 'run' && isFailed ? 'failed' : kind, from, to: to ?? end }),
  );
  const sum = (isWait: boolean) => bars.reduce((ms, { kind, from, to }) => ms + ((kind === 'wait') === isWait ? to - from : 0), 0);
  const row = {
    key: call.callId,
    label: call.name,
    depth,
    bars,
    runMs: sum(false),
    waitMs: sum(true),
    isFailed,
    isWaiting: call.state === 'waiting',
    restarts: 0,
    call,
  };
  return [row, ...call.inner.flatMap((inner) => callRows(inner, end, depth + 1))];
}

/**
 * Positions of all times on a scale of 0 to 100. `sequence`: the intervals between consecutive times have equal widths, so a tool of 40 ms
 * is visible beside an answer of 30 s. `real`: proportional to time.
 */
export function timelineScale(rows: readonly TimelineRow[], scale: TimelineScale): (at: number) => number {
  const times = [...new Set(rows.flatMap(({ bars }) => bars.flatMap(({ from, to }) => [from, to])))].sort((a, b) => a - b);
  const first = times[0] ?? 0;
  const span = (times.at(-1) ?? 0) - first;
  if (times.length < 2 || span === 0) return () => 0;
  if (scale === 'real') return (at) => ((at - first) / span) * 100;
  const places = new Map(times.map((at, index) => [at, (index / (times.length - 1)) * 100]));
  return (at) => places.get(at) ?? 0;
}
