/** The agents and toolsets that a key or a member is bound to. */
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { NamesField } from './fields.tsx';
import { membersOf } from './members.ts';

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
  const members = membersOf<Bindings>(draft, (next) => edit(next as Draft));
  return (
    <div class="fields two">
      <NamesField label="Only these agents" hint={agentsHint} placeholder={knownAgents.join(', ')} {...members.names('agents')} />
      <NamesField
        label="Only these toolsets"
        hint="Empty: all, or those of the agents."
        placeholder={knownToolsets.join(', ')}
        {...members.names('toolsets')}
      />
    </div>
  );
}
