/** Limits of a key, an agent or a workspace as fields. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { NumberField } from './fields.tsx';
import { count, money } from '../../text/format.ts';

type Limits = components['schemas']['UsageLimits'];

/** `path`: of the limits in the document. */
type LimitFieldsProps<All extends Limits> = { limits: All; path?: string; onInput(limits: All): void };

/** `limits` may have further members, which stay. */
export function LimitFields<All extends Limits>({ limits, path = 'limits', onInput }: LimitFieldsProps<All>) {
  return (
    <div class="fields two">
      {limitNames.map(([name, label]) => {
        const unit = name === 'storageBytes' ? megabyte : 1;
        const value = limits[name];
        const set = (typed: number | undefined): void => {
          const members: Limits = { [name]: typed === undefined ? undefined : unit === 1 ? typed : Math.round(typed * unit) };
          onInput(withMembers<Limits>(limits, members) as All);
        };
        return (
          <NumberField
            key={name}
            label={label}
            path={`${path}.${name}`}
            placeholder="no limit"
            value={value === undefined ? undefined : value / unit}
            onInput={set}
          />
        );
      })}
    </div>
  );
}

type LimitName = keyof components['schemas']['UsageLimits'];

/** Bytes of one unit in the field for storage. */
export const megabyte = 1_048_576;

export const limitNames: readonly (readonly [name: LimitName, label: string])[] = [
  ['requestsPerMinute', 'Requests per minute'],
  ['tokensPerMinute', 'Tokens per minute'],
  ['concurrentTurns', 'Turns at the same time'],
  ['concurrentRequests', 'Requests at the same time'],
  ['openStreams', 'Streams at the same time'],
  ['pendingQuestions', 'Pending questions'],
  ['dailyCost', 'Cost per day (UTC)'],
  ['monthlyCost', 'Cost per month (UTC)'],
  ['storageBytes', 'Storage of its sessions (MB)'],
  ['sandboxSecondsPerMinute', 'Seconds of code per minute'],
];

/** An amount of a limit, without its unit, which the label has. */
export function amount(name: LimitName, value: number): string {
  if (name === 'dailyCost' || name === 'monthlyCost') return money(value);
  const shown = name === 'storageBytes' ? value / megabyte : value;
  return shown >= 100 ? count(Math.round(shown)) : String(Math.round(shown * 10) / 10);
}
