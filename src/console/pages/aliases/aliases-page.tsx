/** `/console/aliases/{name?}`: further names of models and agents, and routes over several models, or the editor of one. */
import { useMemo } from 'preact/hooks';
import { openDocument, type OpenDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { duration } from '../../text/format.ts';
import { type ModelAliasDraft, AliasFields } from './alias-fields.tsx';
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { useAttempt } from '../../api/load.ts';
import { hasScope } from '../../api/me.ts';
import { PlainForm, bound } from '../../parts/fields/controls.tsx';
import { type Column, Records } from '../../parts/records/records.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';

export const AliasesPage = documentPage({
  Editor: AliasEditor,
  view: 'aliases',
  title: 'Model aliases',
  about:
    'A client that asks for the name gets the model or the agent, or one of several models, with others in reserve. One * in a name stands for any text, as in claude-*.',
  noun: 'alias',
  empty:
    'No model aliases yet. Create one for a client whose model names cannot be changed, such as gpt-4o, or to spread requests over models.',
  example: 'gpt-4o',
  read: (query) => moniker.value.get('/v1/model-aliases', { params: { query } }),
  row: ({ name, description, model, targets = [], strategy = 'in-order', fallbacks = [], cache }) => ({
    ...{ name, description },
    facts: [
      model ?? `${targets.map((target) => target.model).join(', ')} (${strategy})`,
      ...(fallbacks.length > 0 ? [`${fallbacks.length} in reserve`] : []),
      ...(cache ? [`replies cached for ${duration(cache.ttl * 1_000)}`] : []),
    ].join('; '),
  }),
});

function openAlias(name: string) {
  return openDocument(`aliases ${name}`, {
    ...documentAt('/v1/model-aliases/{alias}', { alias: name }),
    blank: { model: '' } as ModelAliasDraft,
    toDraft: ({ name: _name, ...alias }): ModelAliasDraft => alias,
  });
}

function AliasEditor({ name }: { name: string }) {
  const document = useMemo(() => openAlias(name), [name]);
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'aliases', title: 'Model aliases' }}
      notes={document.view.value !== null && <RequestOrder key={document.etag.value} alias={document.view.value} document={document} />}
      fields={(draft) => <AliasFields draft={draft} edit={document.edit} />}
    />
  );
}

type Step = components['schemas']['RouteStep'];
type OrderProps = { alias: components['schemas']['ModelAliasView']; document: OpenDocument<ModelAliasDraft> };

/** `alias`: as it is stored. */
function RequestOrder({ alias: { name, model }, document }: OrderProps) {
  const isPattern = name.includes('*');
  const asked = useSignal(isPattern ? '' : name);
  const found = useSignal<readonly Step[] | null>(null);
  const { problem, attempt } = useAttempt();
  if (!hasScope(['chat'])) return null;
  const ask = () =>
    attempt(async () => {
      found.value = null;
      const { route } = await moniker.value.get('/v1/models/{model}', { params: { path: { model: asked.value } } });
      // Without targets there is one model to ask.
      found.value = route ?? [];
    });
  return (
    <section aria-label="What would serve a request">
      <PlainForm class="actions" send={ask}>
        {isPattern && <input aria-label="Requested name" required placeholder={name.replace('*', 'name')} {...bound(asked)} />}
        <button type="submit">Which model would serve?</button>
        {document.isChanged.value && <span class="muted">Asked of the stored alias, without your changes.</span>}
      </PlainForm>
      {problem.value !== null && <ProblemView error={problem.value} />}
      {found.value?.length === 0 && <p role="status">{visible(`All requests go to ${model ?? ''}.`)}</p>}
      {found.value !== null && found.value.length > 0 && (
        <Records caption="Order of the models" items={found.value} columns={columns} keyOf={(step) => step.model} />
      )}
    </section>
  );
}

const reasons: Readonly<Record<string, string>> = {
  'in-order': 'the first that is up',
  weighted: 'by weight',
  'least-busy': 'fewest running requests',
  'lowest-latency': 'the fastest',
  sticky: 'stays with its conversation or key',
  fallback: 'if those before fail',
  'all-down': 'all that are left are put aside',
};

const columns: readonly Column<Step>[] = [
  { label: 'Model', cell: ({ model }) => <code>{visible(model)}</code> },
  { label: 'Why', cell: ({ why }) => visible(reasons[why] ?? why) },
  { label: 'State', cell: StateCell },
  { label: 'Running', isNumber: true, cell: ({ running }) => running },
  { label: 'First output', isNumber: true, cell: ({ latencyMs }) => (latencyMs === null ? '–' : duration(latencyMs)) },
];

function StateCell({ state, code, pauseLeftMs }: Step) {
  if (state === 'up') return <span class="badge ok">up</span>;
  const reason = code === null ? '' : ` after ${code}`;
  const text = {
    down: `put aside for ${duration(pauseLeftMs)}${reason}`,
    due: `the next request asks it again${reason}`,
    probing: `a request asks it again${reason}`,
  }[state];
  return <span class={`badge ${state === 'down' ? 'bad' : 'warn'}`}>{visible(text)}</span>;
}
