/** The agents and toolsets that a key or a member is bound to. */
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { memberFields } from './member-fields.tsx';

type Bindings = { agents?: string[]; toolsets?: string[] };
type BindingFieldsProps<Draft> = {
  draft: Draft;
  edit(next: Draft): void;
  /** What an empty list of agents means, and what a binding changes. */
  agentsHint: string;
};

export function BindingFields<Draft extends Bindings>({ draft, edit, agentsHint }: BindingFieldsProps<Draft>) {
  const knownAgents = useNames((signal) => moniker.value.get('/v1/agents', { params: { query: { limit: 100 } }, signal }));
  const knownToolsets = useNames((signal) => moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } }, signal }));
  const members = memberFields<Bindings>(draft, (next) => edit(next as Draft));
  return (
    <div class="fields two">
      {members.names('agents', 'Only these agents', { hint: agentsHint, placeholder: knownAgents.join(', ') })}
      {members.names('toolsets', 'Only these toolsets', {
        hint: 'Empty: all, or those of the agents.',
        placeholder: knownToolsets.join(', '),
      })}
    </div>
  );
}
