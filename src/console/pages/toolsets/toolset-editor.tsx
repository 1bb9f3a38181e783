/** The editor of a toolset: a table whose names are checked while they are typed, and panels about what models receive. */
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { ProblemView } from '../../parts/problem-view.tsx';
import { visible } from '../../parts/visible.ts';
import { pathOf } from '../../router.ts';
import { aliasText, type ToolsetRow, replaceEntry, type RowFault, withAliases, withName, withSuggestion } from './toolset-draft.ts';
import { ToolsetPanels } from './toolset-panels.tsx';
import { openToolset, type OpenToolset } from './toolset-state.ts';

export function ToolsetView({ name }: { name: string }) {
  const state = useMemo(() => openToolset(name), [name]);
  const selected = useSignal(0);
  const saved = useSignal<number | null>(null);
  useEffect(() => void state.load(), [state, moniker.value]);
  const isChanged = useComputed(() => state.draft.value !== null && JSON.stringify(state.draft.value) !== state.stored.value).value;
  const draft = state.draft.value;
  const check = state.check.value;
  const isStale = state.problem.value instanceof MonikerError && state.problem.value.code === 'precondition_failed';
  const save = async (overwrite = false): Promise<void> => {
    saved.value = await state.save(overwrite);
    if (saved.value !== null) announce(`Saved as version ${saved.value}`);
  };
  return (
    <div class="toolset">
      <section class="editor" aria-label="Toolset">
        <header class="actions">
          <h1>
            <a href={pathOf('toolsets')}>Toolsets</a> / {visible(name)}
          </h1>
          <span class="grow" />
          {saved.value !== null && !isChanged && <span class="badge ok">saved as version {saved.value}</span>}
          {isChanged && <CheckBadge state={check.state} />}
          <button type="button" disabled={!isChanged} onClick={() => void state.discard()}>
            Discard
          </button>
          <button type="button" class="primary" disabled={!isChanged || check.state !== 'valid'} onClick={() => void save()}>
            Save
          </button>
        </header>
        {isStale ? (
          <div class="problem" role="alert">
            <h2>The toolset was changed meanwhile</h2>
            <p>Another client stored a version after you opened this one. Your changes are kept.</p>
            <p class="actions">
              <button type="button" onClick={() => void state.discard()}>
                Load the stored version
              </button>
              <button type="button" class="danger" onClick={() => void save(true)}>
                Overwrite it
              </button>
            </p>
          </div>
        ) : (
          state.problem.value !== null && <ProblemView error={state.problem.value} retry={() => void state.load()} />
        )}
        {check.state === 'invalid' && isChanged && check.faults.size === 0 && <ProblemView error={check.error} />}
        {draft !== null && <ToolTable state={state} selected={selected.value} onSelect={(index) => (selected.value = index)} />}
        {draft !== null && <AddTool state={state} />}
        <ResolveBox state={state} />
      </section>
      <ToolsetPanels state={state} selected={selected.value} />
    </div>
  );
}

function CheckBadge({ state }: { state: 'pending' | 'valid' | 'invalid' }) {
  const [tone, text] = {
    pending: ['', 'checking'] as const,
    valid: ['ok', 'can be saved'] as const,
    invalid: ['bad', 'cannot be saved'] as const,
  }[state];
  return <span class={`badge ${tone}`}>{text}</span>;
}

type TableProps = { state: OpenToolset; selected: number; onSelect(index: number): void };

function ToolTable({ state, selected, onSelect }: TableProps) {
  const tools = state.draft.value?.tools ?? [];
  if (tools.length === 0) return <p class="muted">No tools yet. Add one below.</p>;
  return (
    <table class="grid tools">
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Shown name</th>
          <th scope="col">Aliases</th>
          <th scope="col" class="number">
            Tokens
          </th>
          <th scope="col">
            <span class="visually-hidden">Remove</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {tools.map((entry, index) => (
          <ToolRow
            key={`${state.generation.value} ${index} ${entry.tool}`}
            state={state}
            entry={entry}
            index={index}
            isSelected={index === selected}
            onSelect={() => onSelect(index)}
          />
        ))}
      </tbody>
    </table>
  );
}

type RowProps = { state: OpenToolset; entry: ToolsetRow; index: number; isSelected: boolean; onSelect(): void };

function ToolRow({ state, entry, index, isSelected, onSelect }: RowProps) {
  const draft = state.draft.value;
  const fault = state.check.value.faults.get(index);
  const shown = state.report.value?.tools.find((tool) => tool.entry === `tools[${index}]` && tool.canonical === entry.tool);
  // What is typed stays as it is typed; the document has the names.
  const aliases = useSignal(aliasText(entry));
  const change = (next: ToolsetRow): void => {
    if (draft !== null) state.edit(replaceEntry(draft, index, next));
  };
  const label = entry.tool ?? `entry ${index + 1}`;
  const note = `fault-${index}`;
  // A clash is shown at the field that has the name; other faults concern the entry.
  const isAliasFault = fault?.clash != null && aliasText(entry).split(', ').includes(fault.clash);
  const common = (isFaulty: boolean) => ({
    ...{ 'aria-invalid': isFaulty, spellcheck: false, autocomplete: 'off' },
    ...(isFaulty && { 'aria-describedby': note }),
  });
  const isNameFault = fault !== undefined && !isAliasFault;
  return (
    <tr class={[fault === undefined ? '' : 'clash', isSelected ? 'selected' : ''].join(' ')} onFocusIn={onSelect}>
      <th scope="row">
        <button type="button" class="plain" aria-pressed={isSelected} onClick={onSelect}>
          {visible(label)}
        </button>
      </th>
      <td data-label="Shown name">
        <input
          {...common(isNameFault)}
          aria-label={`Shown name of ${label}`}
          value={entry.name ?? ''}
          placeholder={shown?.wireName ?? ''}
          onInput={(event) => change(withName(entry, event.currentTarget.value))}
        />
        {fault !== undefined && isNameFault && <Fault id={note} fault={fault} onUse={() => use(fault)} />}
      </td>
      <td data-label="Aliases">
        <input
          {...common(isAliasFault)}
          aria-label={`Aliases of ${label}`}
          value={aliases.value}
          placeholder={shown?.aliases.join(', ') ?? ''}
          onInput={(event) => {
            aliases.value = event.currentTarget.value;
            change(withAliases(entry, event.currentTarget.value));
          }}
        />
        {fault !== undefined && isAliasFault && <Fault id={note} fault={fault} onUse={() => use(fault)} />}
      </td>
      <td data-label="Tokens" class="number">
        {shown?.tokens ?? ''}
      </td>
      <td>
        <button
          type="button"
          class="plain"
          aria-label={`Remove ${label}`}
          onClick={() => draft !== null && state.edit({ ...draft, tools: draft.tools.filter((_entry, at) => at !== index) })}
        >
          Remove
        </button>
      </td>
    </tr>
  );

  function use(found: RowFault): void {
    const next = withSuggestion(entry, found);
    aliases.value = aliasText(next);
    change(next);
  }
}

function Fault({ id, fault, onUse }: { id: string; fault: RowFault; onUse(): void }) {
  return (
    <p id={id} class="fault">
      {visible(fault.message)}{' '}
      {fault.suggestion !== null && (
        <button type="button" onClick={onUse}>
          Use {visible(fault.suggestion)}
        </button>
      )}
    </p>
  );
}

function AddTool({ state }: { state: OpenToolset }) {
  const known = useSignal<readonly string[]>([]);
  const text = useSignal('');
  useEffect(() => {
    // Without the list, a name can still be typed.
    moniker.value
      .get('/v1/tools', { params: { query: { limit: 200 } } })
      .then(({ items }) => {
        known.value = items.map(({ canonical }) => canonical);
      })
      .catch(() => undefined);
  }, []);
  return (
    <form
      class="actions"
      onSubmit={(event) => {
        event.preventDefault();
        const draft = state.draft.value;
        if (draft === null || text.value.trim() === '') return;
        state.edit({ ...draft, tools: [...draft.tools, { tool: text.value.trim() }] });
        text.value = '';
      }}
    >
      <label for="add-tool">Add a tool</label>
      <input
        id="add-tool"
        list="known-tools"
        autocomplete="off"
        placeholder="server.tool, or server.*"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <datalist id="known-tools">
        {known.value.map((canonical) => (
          <option key={canonical} value={canonical} />
        ))}
      </datalist>
      <button type="submit">Add</button>
    </form>
  );
}

/** What a called name means, in the stored version. */
function ResolveBox({ state }: { state: OpenToolset }) {
  const name = useSignal('');
  const because = useSignal<string | null>(null);
  const problem = useSignal<unknown>(null);
  const resolve = async (asked: string): Promise<void> => {
    name.value = asked;
    because.value = null;
    problem.value = null;
    try {
      const found = await moniker.value.get('/v1/toolsets/{toolset}/resolve', { params: { path: state.path, query: { name: asked } } });
      because.value = found.because;
    } catch (error) {
      problem.value = error;
    }
  };
  return (
    <section aria-label="Resolve a name">
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.value !== '') void resolve(name.value);
        }}
      >
        <label for="resolve">What would a model’s call of</label>
        <input
          id="resolve"
          autocomplete="off"
          placeholder="RunCommand"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <button type="submit">mean?</button>
      </form>
      {because.value !== null && <p role="status">{visible(because.value)}</p>}
      {problem.value !== null && <ProblemView error={problem.value} suggest={(one) => void resolve(one)} />}
    </section>
  );
}
