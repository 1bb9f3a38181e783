/** The tools of a stored server with their states; one of them in a sheet. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { CodeBlock } from '../../parts/text/code-block.tsx';
import { Records, Time, StateBadge } from '../../parts/records/records.tsx';
import { Sheet } from '../../parts/layout/sheet.tsx';
import { visible } from '../../parts/text/visible.ts';
import { AcceptFlagged } from './accept-flagged.tsx';
import { Decisions } from './decisions.tsx';
import { Findings } from './findings.tsx';
import { toolSubject } from './review-subject.ts';
import type { OpenServer } from './server-state.ts';

type View = components['schemas']['ServerView'];
type Tool = View['tools'][number];

const pageSize = 50;
/** Up to here a filter is no help. */
const fewTools = 10;

export function ServerTools({ state, view }: { state: OpenServer; view: View }) {
  const search = useSignal('');
  const shown = useSignal(pageSize);
  const opened = useSignal<string | null>(null);
  const found = view.tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(search.value.toLowerCase()));
  const tool = view.tools.find(({ name }) => name === opened.value);
  return (
    <section aria-label="Tools of the server">
      <div class="actions">
        <h2>
          {view.tools.length} {view.tools.length === 1 ? 'tool' : 'tools'}
        </h2>
        <span class="grow" />
        {view.tools.length > fewTools && (
          <input
            type="search"
            aria-label="Filter the tools"
            placeholder="Filter by name or description"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value;
              shown.value = pageSize;
            }}
          />
        )}
      </div>
      {view.tools.length === 0 ? (
        <p class="muted">It has no tools. {view.health?.status === 'ok' ? 'Its list is empty.' : 'Test it to see why, then refresh.'}</p>
      ) : (
        <Records
          caption="Tools of the server"
          items={found.slice(0, shown.value)}
          keyOf={({ name }) => name}
          columns={[
            {
              label: 'Tool',
              cell: ({ name }) => (
                <button type="button" class="link" onClick={() => (opened.value = name)}>
                  {visible(name)}
                </button>
              ),
            },
            { label: 'Description', cell: ({ description }) => <span class="brief">{visible(firstLine(description))}</span> },
            { label: 'State', cell: ({ state: of, decisions }) => <ToolState state={of} newest={decisions?.[0]} /> },
          ]}
        />
      )}
      {found.length > shown.value && (
        <p class="more">
          <button
            type="button"
            onClick={() => {
              shown.value += pageSize;
            }}
          >
            Show more of {found.length}
          </button>
        </p>
      )}
      {tool !== undefined && (
        <Sheet title={visible(tool.canonical)} onClose={() => (opened.value = null)}>
          <ToolDetails state={state} tool={tool} isTrusted={view.trusted === true || view.kind === 'static'} />
        </Sheet>
      )}
    </section>
  );
}

/** With the time of an update that was in force without a review, which `Decisions` can undo. */
function ToolState({ state, newest }: { state: string; newest: NonNullable<Tool['decisions']>[number] | undefined }) {
  return (
    <>
      <StateBadge state={state} />
      {newest?.by === 'updates' && (
        <span class="muted">
          {' '}
          updated <Time iso={newest.at} />
        </span>
      )}
    </>
  );
}

const annotationTexts: readonly (readonly [name: 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', text: string])[] =
  [
    ['readOnlyHint', 'only reads'],
    ['destructiveHint', 'may destroy'],
    ['idempotentHint', 'can be repeated'],
    ['openWorldHint', 'reaches other systems'],
  ];

function ToolDetails({ state, tool, isTrusted }: { state: OpenServer; tool: Tool; isTrusted: boolean }) {
  const { name, description, inputSchema, outputSchema, annotations, annotationsAccepted, findings = [] } = tool;
  const subject = toolSubject(state, name);
  const said = annotationTexts.filter(([member]) => annotations?.[member] === true).map(([, text]) => text);
  const setAccepted = (isAccepted: boolean) =>
    state.act(() =>
      moniker.value.post('/v1/servers/{server}/tools/{tool}/accept', {
        params: { path: { ...state.path, tool: name } },
        // Of the definition that is shown, not of one that is held.
        body: { annotations: isAccepted, ...(isAccepted && { refId: tool.refId }) },
      }),
    );
  return (
    <div class="fields">
      <p>
        <StateBadge state={tool.state} />
      </p>
      <Decisions state={state} subject={subject} decisions={tool.decisions} />
      <p class="description">{visible(description)}</p>
      <Findings findings={findings} />
      {said.length > 0 && (
        <div>
          <h3>Annotations: {said.join(', ')}</h3>
          {!isTrusted && (
            <p>
              {annotationsAccepted
                ? 'They count until the definition changes. '
                : 'They do not count, since the server is not trusted: every call requires approval. '}
              {!annotationsAccepted && findings.length > 0 && tool.state === 'ready' ? (
                <AcceptFlagged state={state} subject={subject} refId={tool.refId} annotations />
              ) : (
                <button type="button" onClick={() => void setAccepted(!annotationsAccepted)}>
                  {annotationsAccepted ? 'Let them count no longer' : 'Accept the annotations'}
                </button>
              )}
            </p>
          )}
        </div>
      )}
      <div>
        <h3>Arguments</h3>
        <CodeBlock text={JSON.stringify(inputSchema, null, 2)} language="json" label="Schema of the arguments" />
      </div>
      {outputSchema !== undefined && (
        <div>
          <h3>Result</h3>
          <CodeBlock text={JSON.stringify(outputSchema, null, 2)} language="json" label="Schema of the result" />
        </div>
      )}
    </div>
  );
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 160 ? `${line.slice(0, 160).toWellFormed()}…` : line;
}
