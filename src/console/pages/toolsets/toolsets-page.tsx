/** `/console/toolsets/{name?}`: the list of toolsets, or the editor of one. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { moniker } from '../../api/moniker.ts';
import { ProblemView } from '../../parts/problem-view.tsx';
import { visible } from '../../parts/visible.ts';
import { navigate, pathOf, type ViewProps } from '../../router.ts';
import { ToolsetView } from './toolset-editor.tsx';

type Row = { name: string; description?: string; toolCount: number; version: number };

export function ToolsetsPage({ id }: ViewProps) {
  return id === null ? <ToolsetList /> : <ToolsetView key={id} name={id} />;
}

function ToolsetList() {
  const rows = useSignal<Row[] | null>(null);
  const problem = useSignal<unknown>(null);
  const load = async (): Promise<void> => {
    try {
      rows.value = (await moniker.value.get('/v1/toolsets', { params: { query: { limit: 100 } } })).items;
      problem.value = null;
    } catch (error) {
      problem.value = error;
    }
  };
  useEffect(() => void load(), [moniker.value]);
  return (
    <div class="view">
      <h1>Toolsets</h1>
      <p class="muted">A toolset is a list of tools under the names that models see.</p>
      {problem.value !== null && <ProblemView error={problem.value} retry={() => void load()} />}
      {rows.value?.length === 0 && <p>No toolsets yet. Create one: name it, then add tools.</p>}
      <ul class="rows">
        {(rows.value ?? []).map(({ name, description, toolCount, version }) => (
          <li key={name}>
            <a href={pathOf('toolsets', name)}>{name}</a>
            <span class="muted">{visible(description ?? '')}</span>
            <span class="muted">
              {toolCount} tools, version {version}
            </span>
          </li>
        ))}
      </ul>
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
          if (name !== '') navigate(pathOf('toolsets', name));
        }}
      >
        <label for="new-toolset">New toolset</label>
        <input id="new-toolset" name="name" required pattern="[a-z][a-z0-9_\-]*" placeholder="helpdesk" autocomplete="off" />
        <button type="submit">Create</button>
      </form>
    </div>
  );
}
