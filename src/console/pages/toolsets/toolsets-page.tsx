/** `/console/toolsets/{name?}`: the list of toolsets, or the editor of one. */
import { bound, Suggestions, PlainForm } from '../../parts/fields/controls.tsx';
import { useAttempt, useNames } from '../../api/load.ts';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import {
  aliasText,
  firstTarget,
  type ToolsetRow,
  replaceEntry,
  type RowFault,
  withAliases,
  withName,
  withSuggestion,
} from './toolset-draft.ts';
import { ToolsetPanels } from './toolset-panels.tsx';
import { RevokedTools } from './toolset-revoked.tsx';
import { openToolset, type OpenToolset } from './toolset-state.ts';
import { late } from '../../parts/layout/late.tsx';
import { pathOf } from '../../router.ts';

export const ToolsetsPage = documentPage({
  Editor: ToolsetView,
  view: 'toolsets',
  title: 'Toolsets',
  about: 'A toolset is a list of tools under the names that models see.',
  noun: 'toolset',
  empty: (
    <>
      No toolsets yet. Name one, or <a href={pathOf('import')}>import</a> a file.
    </>
  ),
  example: 'helpdesk',
  read: (query) => moniker.value.get('/v1/toolsets', { params: { query } }),
  row: ({ toolCount, version, ...rest }) => ({ ...rest, facts: `${toolCount} tools, version ${version}` }),
});

const UsedBy = late(async () => (await import('./used-by.tsx')).UsedBy);
const InventedNames = late(async () => (await import('./invented-names.tsx')).InventedNames);
const ConnectClient = late(async () => (await import('./connect-client.tsx')).ConnectClient);

/** The editor of a toolset: a table whose names are checked while they are typed, and panels about what models receive. */
function ToolsetView({ name }: { name: string }) {
  const state = useMemo(() => openToolset(name), [name]);
  const selected = useSignal(0);
  const { document, provider } = state;
  useEffect(() => void state.loadReport(), [document.etag.value, document.generation.value, provider.value]);
  return (
    <div class="toolset">
      <DocumentEditor
        {...{ document, name, view: 'toolsets', title: 'Toolsets', isBeside: true, showsCheck: showsCheck(document.check.value.error) }}
        above={() => (
          <>
            <ToolTable state={state} selected={selected.value} onSelect={(index) => (selected.value = index)} />
            <RevokedTools state={state} />
            <AddTool state={state} />
          </>
        )}
        below={
          <>
            <ResolveBox state={state} />
            <UsedBy state={state} />
            {document.etag.value !== null && (
              <>
                <InventedNames state={state} />
                <ConnectClient name={name} />
              </>
            )}
          </>
        }
      />
      <ToolsetPanels state={state} selected={selected.value} />
    </div>
  );
}

/** Whether the rows show all faults that the check found. */
function showsCheck(error: unknown): boolean {
  return error instanceof MonikerError && error.issues.every(({ path }) => path.startsWith('tools['));
}

type TableProps = { state: OpenToolset; selected: number; onSelect(index: number): void };

function ToolTable({ state, selected, onSelect }: TableProps) {
  const tools = state.document.draft.value?.tools ?? [];
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
            key={`${state.document.generation.value} ${index} ${entry.tool}`}
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
  const draft = state.document.draft.value;
  const fault = state.faults.value.get(index);
  // A pattern such as `fs.*` stands for several tools. After a row was removed, the numbers of the report are those of before.
  const isPattern = firstTarget(entry)?.endsWith('*') === true;
  const listed = state.report.value?.tools.filter(
    (tool) => tool.entry === `tools[${index}]` && (isPattern || tool.canonical === firstTarget(entry)),
  );
  const shown = isPattern ? undefined : listed?.[0];
  const tokens = (listed ?? []).reduce((sum, tool) => sum + tool.tokens, 0);
  // What is typed stays as it is typed; the document has the names.
  const aliases = useSignal(aliasText(entry));
  const change = (next: ToolsetRow): void => {
    if (draft !== null) state.document.edit(replaceEntry(draft, index, next));
  };
  const label = [entry.tool ?? `entry ${index + 1}`].flat().join(' / ');
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
          {label.split(/(?<=\.)/).map((part) => (
            <>
              {visible(part)}
              <wbr />
            </>
          ))}
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
        {tokens > 0 ? tokens : ''}
      </td>
      <td>
        <button
          type="button"
          class="plain"
          aria-label={`Remove ${label}`}
          onClick={() => draft !== null && state.document.edit({ ...draft, tools: draft.tools.filter((_entry, at) => at !== index) })}
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
  const known = useNames((signal) => moniker.value.get('/v1/tools', { params: { query: { limit: 200 } }, signal }));
  const text = useSignal('');
  return (
    <PlainForm
      class="actions"
      send={() => {
        const draft = state.document.draft.value;
        if (draft === null || text.value.trim() === '') return;
        state.document.edit({ ...draft, tools: [...draft.tools, { tool: text.value.trim() }] });
        text.value = '';
      }}
    >
      <label for="add-tool">Add a tool</label>
      <input id="add-tool" list="known-tools" autocomplete="off" placeholder="server.tool, or server.*" {...bound(text)} />
      <Suggestions id="known-tools" values={known} />
      <button type="submit">Add</button>
    </PlainForm>
  );
}

/** What a called name means, in the stored version. */
function ResolveBox({ state }: { state: OpenToolset }) {
  const name = useSignal('');
  const because = useSignal<string | null>(null);
  const { problem, attempt } = useAttempt();
  const resolve = (asked: string) =>
    attempt(async () => {
      name.value = asked;
      because.value = null;
      const found = await moniker.value.get('/v1/toolsets/{toolset}/resolve', { params: { path: state.path, query: { name: asked } } });
      because.value = found.because;
    });
  return (
    <section aria-label="Resolve a name">
      <PlainForm class="actions" send={() => name.value !== '' && resolve(name.value)}>
        <label for="resolve">What would a model’s call of</label>
        <input id="resolve" autocomplete="off" placeholder="RunCommand" {...bound(name)} />
        <button type="submit">mean?</button>
      </PlainForm>
      {because.value !== null && <p role="status">{visible(because.value)}</p>}
      {problem.value !== null && <ProblemView error={problem.value} suggest={(one) => void resolve(one)} />}
    </section>
  );
}
