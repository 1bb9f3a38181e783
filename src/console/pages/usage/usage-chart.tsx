/** Stacked bars, one for each day. A table has the same numbers, so the drawing is one image for screen readers. */
import { useSignal } from '@preact/signals';
import { visible } from '../../parts/text/visible.ts';
import { axisEnd, type DayBar, type DaySeries } from './usage-series.ts';

type ChartProps = { series: DaySeries; isCount: boolean; what: string; format(value: number): string };

const height = 100;
const ticks = [1, 0.75, 0.5, 0.25, 0];

export function UsageChart({ series: { names, days }, isCount, what, format }: ChartProps) {
  const pointed = useSignal<DayBar | null>(null);
  const end = axisEnd(Math.max(0, ...days.map(({ total }) => total)), isCount);
  const largest = days.reduce<DayBar | null>((best, day) => (best === null || day.total > best.total ? day : best), null);
  const shown = pointed.value;
  return (
    <figure class="chart">
      <div class="axis" aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick}>{format(end * tick)}</span>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${Math.max(1, days.length)} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${what} for each day.${largest === null || largest.total === 0 ? '' : ` The most on ${largest.day}: ${format(largest.total)}.`} The table below has the numbers.`}
        onPointerLeave={() => (pointed.value = null)}
      >
        {ticks.map((tick) => (
          <line key={tick} x1="0" x2={days.length} y1={height * tick} y2={height * tick} />
        ))}
        {days.map((day, index) => (
          <g key={day.day} class={shown === null || shown === day ? undefined : 'faded'} onPointerEnter={() => (pointed.value = day)}>
            <rect class="hit" x={index} y="0" width="1" height={height} />
            {stack(day.values).map(([from, to], series) => (
              <rect
                key={names[series]}
                class={`series-${series}`}
                x={index + 0.14}
                width="0.72"
                y={height - (to / end) * height}
                height={((to - from) / end) * height}
              />
            ))}
          </g>
        ))}
      </svg>
      <div class="days" aria-hidden="true">
        {labelled(days).map(({ day }) => (
          <span key={day}>{new Date(day).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })}</span>
        ))}
      </div>
      <figcaption>
        <ul>
          {names.map((name, series) => (
            <li key={name}>
              <i class={`series-${series}`} aria-hidden="true" />
              {visible(name)}
              {shown !== null && <strong> {format(shown.values[series] ?? 0)}</strong>}
            </li>
          ))}
        </ul>
        <span class="pointed">{shown !== null && `${shown.day}: ${format(shown.total)}`}</span>
      </figcaption>
    </figure>
  );
}

/** From and to of each part of a bar. */
function stack(values: readonly number[]): [from: number, to: number][] {
  let from = 0;
  return values.map((value) => {
    const part: [number, number] = [from, from + value];
    from += value;
    return part;
  });
}

/** First, middle and last. */
function labelled(days: readonly DayBar[]): DayBar[] {
  const places = days.length < 3 ? [...days.keys()] : [0, Math.floor((days.length - 1) / 2), days.length - 1];
  return days.filter((_, index) => places.includes(index));
}
