/** Limits of a key, an agent or a workspace as fields. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { NumberField } from './fields.tsx';
import { limitNames, megabyte } from './limit-names.ts';

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
