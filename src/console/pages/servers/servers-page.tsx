/** `/console/servers/{name?}`: the list of servers with their health, or one server. */
import { useMemo } from 'preact/hooks';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { late } from '../../parts/layout/late.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { ServerFields } from './server-fields.tsx';
import { openServer } from './server-state.ts';
import { moniker } from '../../api/moniker.ts';
import { StateBadge } from '../../parts/records/records.tsx';
import { pathOf } from '../../router.ts';

const kindTitles = { mcp: 'MCP server', openapi: 'OpenAPI document', static: 'Definitions' } as const;

export const ServersPage = documentPage({
  Editor: ServerEditor,
  view: 'servers',
  title: 'Servers',
  about: 'A server brings tools: an MCP server, the operations of an OpenAPI document, or definitions of your own.',
  noun: 'server',
  empty: (
    <>
      No servers yet. Name one, such as weather, whose tools are then weather.get_forecast and so on. Or{' '}
      <a href={pathOf('import')}>import</a> a file.
    </>
  ),
  example: 'weather',
  read: (query) => moniker.value.get('/v1/servers', { params: { query } }),
  row: ({ name, kind, url, command, toolCount, held, health }) => ({
    name,
    description: url ?? command ?? 'a pasted document',
    facts: (
      <span class="actions">
        {kindTitles[kind]}, {toolCount} {toolCount === 1 ? 'tool' : 'tools'}
        {held > 0 && <span class="badge warn">{held} held</span>}
        {health !== undefined && <StateBadge state={health.status} />}
      </span>
    ),
  }),
});

const TestResult = late(async () => (await import('./test-result.tsx')).TestResult);
const Remarks = late(async () => (await import('./test-result.tsx')).Remarks);
const StoredServer = late(async () => (await import('./stored-server.tsx')).StoredServer);

/** One server: its health, definitions that are held, its tools, and the document, which is tested before it is stored. */
function ServerEditor({ name }: { name: string }) {
  const state = useMemo(() => openServer(name), [name]);
  const { document, test, isTesting, problem, warnings } = state;
  const { draft, etag, view } = document;
  const isNew = etag.value === null;
  const remarks = warnings.value.length > 0 ? warnings.value : (view.value?.warnings ?? []);
  const isTested = test.value !== null && test.value.of === JSON.stringify(draft.value);
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'servers', title: 'Servers', isBlocked: isNew && !isTested }}
      {...(isTested && { fault: test.value?.error })}
      actions={
        <button
          type="button"
          class={isNew && !isTested ? 'primary' : undefined}
          disabled={isTesting.value || draft.value === null}
          onClick={() => void state.runTest()}
        >
          {isTesting.value ? 'Testing…' : 'Test'}
        </button>
      }
      notes={
        <>
          {isTested && test.value !== null && <TestResult test={test.value} isNew={isNew} />}
          {problem.value !== null && <ProblemView error={problem.value} />}
          {remarks.length > 0 && <Remarks warnings={remarks} />}
          {view.value !== null && !isNew && <StoredServer state={state} view={view.value} />}
        </>
      }
      fields={(server) => <ServerFields draft={server} isNew={isNew} edit={document.edit} replace={document.replace} />}
    />
  );
}
