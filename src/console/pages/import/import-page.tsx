/** `/console/import`: choose, drop or paste a file of another system, or name its URL, see what becomes of it, then import it. */
import { Warnings } from '../../parts/fields/field-issues.tsx';
import { useSignal } from '@preact/signals';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { UploadButton } from '../../parts/actions/upload-button.tsx';
import { PlainForm } from '../../parts/fields/controls.tsx';
import { CheckField, ChoiceField, TextField } from '../../parts/fields/fields.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { type Column, Records } from '../../parts/records/records.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';

type Report = components['schemas']['ImportReport'];
/** `body` null: the service reads the URL. `title`: as the page shows it. */
type Source = { body: Blob | null; query: { fileName?: string; url?: string }; title: string };
type Row = { name: string; action: string; reason: string; href: string | null };

export function ImportPage() {
  const source = useSignal<Source | null>(null);
  const pasted = useSignal('');
  const format = useSignal('');
  const isReplacing = useSignal(false);
  /** Of the newest request: a plan, or what was done. */
  const report = useSignal<Report | null>(null);
  const isDone = useSignal(false);
  const isBusy = useSignal(false);
  const problem = useSignal<unknown>(null);

  const send = async (dryRun: boolean): Promise<void> => {
    const chosen = source.value;
    if (chosen === null) return;
    isBusy.value = true;
    problem.value = null;
    try {
      const sent = await post(chosen, { format: format.value, replace: isReplacing.value ? 'true' : undefined, dryRun });
      // Another file may have been chosen meanwhile.
      if (source.value !== chosen) return;
      report.value = sent;
      isDone.value = !dryRun;
      announce(dryRun ? 'The plan is shown. Nothing is stored yet.' : 'The file is imported.');
    } catch (error) {
      if (dryRun) report.value = null;
      problem.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  const read = (chosen: Source): void => {
    source.value = chosen;
    void send(true);
  };
  const choose = (files: FileList | readonly File[] | null | undefined): void => {
    const [file] = files ?? [];
    if (file !== undefined) read({ body: file, query: { fileName: file.name.slice(0, 1_000) }, title: file.name });
  };

  return (
    <div class="view">
      <h1>Import</h1>
      <p class="muted">
        Bring the servers of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Kiro or Zed, toolsets of HyperTool, lists of functions,
        models of LiteLLM or Portkey, an OpenAPI document, or a project file. JSON, YAML or zip, at most 10 MB. Nothing is stored before you
        have seen the plan.
      </p>
      <section
        class="drop rounded"
        aria-label="File"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          choose(event.dataTransfer?.files);
        }}
      >
        <UploadButton
          label={source.value === null ? 'Choose a file' : 'Choose another file'}
          accept=".json,.jsonc,.yaml,.yml,.zip"
          onFiles={choose}
        />
        <p class="muted">{source.value === null ? 'or drop it here' : visible(source.value.title)}</p>
      </section>
      <PlainForm send={() => read(sourceOf(pasted.value.trim()))}>
        <TextField
          label="Or paste its text, or its URL"
          path="url"
          hint="The service reads a URL without credentials."
          rows={5}
          isCode
          value={pasted.value}
          onInput={(text) => (pasted.value = text)}
        />
        <p class="actions">
          <button type="submit" disabled={pasted.value.trim() === ''}>
            Show the plan
          </button>
        </p>
      </PlainForm>
      <ChoiceField
        label="Format"
        path="format"
        hint="Usually found out from the content."
        value={format.value}
        choices={formats}
        onInput={(value) => {
          format.value = value;
          void send(true);
        }}
      />
      <CheckField
        label="Replace stored documents of the same name"
        path="replace"
        hint="Otherwise they are merged: what was changed here stays. Project files always replace them."
        value={isReplacing.value}
        onInput={(value) => {
          isReplacing.value = value;
          void send(true);
        }}
      />
      {problem.value !== null && <ProblemView error={problem.value} retry={() => void send(!isDone.value)} />}
      {report.value !== null && <Result report={report.value} isDone={isDone.value} />}
      {report.value !== null && !isDone.value && (
        <p class="actions">
          <button type="button" class="primary" disabled={isBusy.value || !writesSomething(report.value)} onClick={() => void send(false)}>
            Import
          </button>
        </p>
      )}
    </div>
  );
}

function Result({ report, isDone }: { report: Report; isDone: boolean }) {
  const rows = rowsOf(report, isDone);
  return (
    <>
      <h2>{isDone ? 'Imported' : 'Plan'}</h2>
      <p>
        Format: <code>{report.format}</code>. {rows.length === 0 && 'The file contains nothing to import.'}
      </p>
      <Records caption={isDone ? 'What was imported' : 'What would be imported'} items={rows} columns={columns} keyOf={keyOf} />
      <Warnings
        warnings={[
          ...(report.impact ?? []).map(({ name, text }) => ({ path: name, message: text })),
          ...(report.notCompared ?? []).map(({ name, reason }) => ({ path: name, message: `Not compared with past calls: ${reason}.` })),
          ...report.warnings,
        ]}
      />
    </>
  );
}

const columns: Column<Row>[] = [
  {
    label: 'Document',
    cell: ({ name, href }) => (href === null ? <code>{visible(name)}</code> : <a href={href}>{visible(name)}</a>),
  },
  { label: 'Result', cell: ({ action }) => action },
  { label: 'Reason or changes', cell: ({ reason }) => visible(reason) },
];

function keyOf({ name, action, reason }: Row): string {
  return `${action} ${name} ${reason}`;
}

function rowsOf(report: Report, isDone: boolean): Row[] {
  const rows = (names: readonly string[], action: string): Row[] =>
    names.map((name) => ({ name, action, reason: '', href: isDone ? hrefOf(name) : null }));
  const reasons = (items: readonly { name: string; reason: string }[], action: string): Row[] =>
    items.map(({ name, reason }) => ({ name, action, reason, href: null }));
  return [
    ...rows(report.created, isDone ? 'created' : 'new'),
    ...rows(report.updated, isDone ? 'changed' : 'changes the stored one').map((row) => ({
      ...row,
      reason: changesOf(report, row.name),
    })),
    ...reasons(report.waiting, 'after its servers have listed their tools'),
    ...rows(report.unchanged, 'unchanged'),
    ...reasons(report.kept, 'kept'),
    ...reasons(report.skipped, 'skipped'),
  ];
}

function changesOf({ changes }: Report, name: string): string {
  return changes
    .filter((change) => change.name === name)
    .map(({ path, before, after }) =>
      before === undefined && after === undefined ? path : `${path}: ${before ?? 'nothing'} → ${after ?? 'nothing'}`,
    )
    .join('; ');
}

function writesSomething({ created, updated, waiting }: Report): boolean {
  return created.length + updated.length + waiting.length > 0;
}

/** The page of a document: `servers.github` → `/console/servers/github`. */
function hrefOf(name: string): string | null {
  const dot = name.indexOf('.');
  const view = views.get(name.slice(0, dot));
  return view === undefined ? null : pathOf(view, name.slice(dot + 1));
}

const views: ReadonlyMap<string, string> = new Map(
  ['servers', 'toolsets', 'agents', 'providers', 'skills', 'secrets'].map((section) => [section, section] as const),
);

function sourceOf(text: string): Source {
  if (/^https?:\/\/\S+$/i.test(text)) return { body: null, query: { url: text }, title: text };
  return { body: new Blob([text]), query: {}, title: 'the pasted text' };
}

type PostOptions = { format: string; replace: 'true' | undefined; dryRun: boolean };

async function post({ body, query: named }: Source, { format, replace, dryRun }: PostOptions): Promise<Report> {
  const query = { ...named, dryRun: dryRun ? ('true' as const) : ('false' as const), ...(replace && { replace }) };
  const { data, error, response } = await moniker.value.POST('/v1/import', {
    // The choices are those of the API.
    params: { query: { ...query, ...(format !== '' && { format: format as 'moniker' }) } },
    // The client sends bytes unchanged; the typed body is that of JSON.
    body: (body ?? undefined) as unknown as components['schemas']['Project'],
    headers: { 'content-type': 'application/octet-stream' },
  });
  if (data !== undefined) return data;
  throw new MonikerError(error, { status: response.status, requestId: response.headers.get('x-request-id') });
}

const formats: readonly (readonly [value: string, label: string])[] = [
  ['', 'Found out'],
  ['claude', 'Claude Desktop or Claude Code'],
  ['cursor', 'Cursor'],
  ['vscode', 'VS Code'],
  ['windsurf', 'Windsurf'],
  ['kiro', 'Kiro'],
  ['zed', 'Zed'],
  ['hypertool', 'HyperTool'],
  ['litellm', 'LiteLLM'],
  ['portkey', 'Portkey'],
  ['openapi', 'OpenAPI or Swagger'],
  ['openai-functions', 'Functions of OpenAI, tools of Anthropic'],
  ['sisu', 'SISU'],
  ['albert', 'Albert'],
  ['alias-map', 'Map of names'],
  ['moniker', 'Project file of Moniker'],
];
