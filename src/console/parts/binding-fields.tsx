/** The agents and toolsets that a key or a member is bound to. */
import { useLoaded } from '../api/load.ts';
import { moniker } from '../api/moniker.ts';
import { NamesField } from './fields.tsx';

type BindingFieldsProps = {
  agents: readonly string[] | undefined;
  toolsets: readonly string[] | undefined;
  /** What an empty list of agents means, and what a binding changes. */
  agentsHint: string;
  /** A list without names is `undefined`. */
  change(members: { agents?: string[] | undefined; toolsets?: string[] | undefined }): void;
};

export function BindingFields({ agents = [], toolsets = [], agentsHint, change }: BindingFieldsProps) {
  const names = useLoaded(async (signal) => {
    const options = { params: { query: { limit: 100 } }, signal };
    const [found, sets] = await Promise.all([moniker.value.get('/v1/agents', options), moniker.value.get('/v1/toolsets', options)]);
    return { agents: found.items.map(({ name }) => name), toolsets: sets.items.map(({ name }) => name) };
  });
  return (
    <div class="fields two">
      <NamesField
        label="Only these agents"
        path="agents"
        hint={agentsHint}
        placeholder={names.data?.agents.join(', ')}
        value={agents}
        onInput={(list) => change({ agents: list.length > 0 ? list : undefined })}
      />
      <NamesField
        label="Only these toolsets"
        path="toolsets"
        hint="Empty: all, or those of the agents."
        placeholder={names.data?.toolsets.join(', ')}
        value={toolsets}
        onInput={(list) => change({ toolsets: list.length > 0 ? list : undefined })}
      />
    </div>
  );
}
