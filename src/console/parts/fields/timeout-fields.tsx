/** How long a model may take, in milliseconds: of an agent, a provider or an alias. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { memberFields } from './member-fields.tsx';

type Timeouts = components['schemas']['RouteTimeouts'];

const labels = [
  ['firstByteMs', 'Model: first byte of a stream (ms)'],
  ['betweenBytesMs', 'Model: pause in a stream (ms)'],
  ['wholeMs', 'Model: whole reply (ms)'],
  ['totalMs', 'All attempts together (ms)'],
] as const;

type TimeoutProps<Draft> = { draft: Draft; edit(next: Draft): void; placeholder: string; hasTotal?: boolean };

export function TimeoutFields<Draft extends { timeouts?: Timeouts }>({ draft, edit, placeholder, hasTotal = false }: TimeoutProps<Draft>) {
  const set = (next: Timeouts): void =>
    edit(withMembers<{ timeouts?: Timeouts }>(draft, { timeouts: Object.keys(next).length > 0 ? next : undefined }) as Draft);
  const members = memberFields<Timeouts>(draft.timeouts ?? {}, set, 'timeouts.');
  return labels.filter(([name]) => hasTotal || name !== 'totalMs').map(([name, label]) => members.number(name, label, { placeholder }));
}
