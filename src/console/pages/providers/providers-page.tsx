/** `/console/providers/{name?}`: model providers, with those of the settings and the built-in one, or the editor of one. */
import { PlainForm, Suggestions } from '../../parts/fields/controls.tsx';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import type { DefaultBaseUrls, ProviderKind } from '../../../core/names/provider-kind.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../api/announce.ts';
import { ConfirmButton } from '../../parts/actions/confirm-button.tsx';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { ChoiceField, NamesField, SecretField, FieldFault } from '../../parts/fields/fields.tsx';
import { useSecretNames } from '../../api/load.ts';
import { TimeoutFields } from '../../parts/fields/timeout-fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { JsonField, readObject } from '../../parts/fields/json-field.tsx';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { late } from '../../parts/layout/late.tsx';
import { CellInput, numberColumn, type RowColumn, RowTable } from '../../parts/fields/row-table.tsx';

const HeaderFields = late(async () => (await import('../../parts/fields/header-fields.tsx')).HeaderFields);

const sources = { document: null, settings: 'from the settings', builtin: 'built in' } as const;

export const ProvidersPage = documentPage({
  Editor: ProviderEditor,
  view: 'providers',
  title: 'Providers',
  about: 'A provider runs models. Its name is the first part of a model’s name, such as anthropic/claude-sonnet-4-5.',
  noun: 'provider',
  empty: 'No providers yet. Add one: name it, then choose its kind and give its key.',
  example: 'groq',
  read: (query) => moniker.value.get('/v1/providers', { params: { query } }),
  row: ({ name, kind, baseUrl, hasApiKey, source, models = [] }) => ({
    name,
    description: baseUrl ?? kind,
    facts: (
      <span class="actions">
        {models.length > 0 && `${models.length} ${models.length === 1 ? 'model' : 'models'}`}
        {sources[source] !== null && <span class="badge">{sources[source]}</span>}
        {kind !== 'rehearsal' && <span class={`badge ${hasApiKey ? 'ok' : ''}`}>{hasApiKey ? 'key set' : 'no key'}</span>}
      </span>
    ),
  }),
});

type View = components['schemas']['ProviderView'];
type ModelEntry = components['schemas']['ProviderModel'];
export type ProviderDraft = Omit<View, 'name' | 'hasApiKey' | 'source'> & { apiKey?: string };

/** `address`: where requests go if there is no `baseUrl`; an example for a kind that requires one. */
const kindFields: {
  [Kind in ProviderKind]: { title: string; address: DefaultBaseUrls[Kind] extends null ? string : DefaultBaseUrls[Kind] };
} = {
  'openai-compatible': { title: 'OpenAI-compatible', address: 'http://127.0.0.1:11434/v1' },
  openai: { title: 'OpenAI (Chat Completions)', address: 'https://api.openai.com/v1' },
  'openai-responses': { title: 'OpenAI (Responses)', address: 'https://api.openai.com/v1' },
  anthropic: { title: 'Anthropic', address: 'https://api.anthropic.com/v1' },
  gemini: { title: 'Gemini', address: 'https://generativelanguage.googleapis.com/v1beta' },
  'azure-openai': { title: 'Azure OpenAI', address: 'https://name.example.com' },
  bedrock: { title: 'Amazon Bedrock', address: '' },
  vertex: { title: 'Vertex AI', address: '' },
  cohere: { title: 'Cohere', address: 'https://api.cohere.com/v2' },
  ollama: { title: 'Ollama', address: 'http://127.0.0.1:11434' },
};
// `Object.entries` loses the names' types.
const kinds = Object.entries(kindFields) as [kind: ProviderKind, { title: string; address: string }][];

function openProvider(name: string) {
  const path = { provider: name };
  const blankKind = kinds.find(([kind]) => kind === name)?.[0] ?? 'openai-compatible';
  const api = documentAt('/v1/providers/{provider}', path);
  const document = openDocument(`providers ${name}`, {
    ...api,
    blank: { kind: blankKind } as ProviderDraft,
    // A key is not written to the storage of the tab.
    toKept: ({ apiKey: _key, ...draft }) => draft,
    toDraft: ({ name: _name, hasApiKey: _key, source: _source, ...draft }) => draft,
    // The kind `rehearsal` is built in, and has no editor.
    write: (draft, header) => api.write(draft as components['schemas']['Provider'], header),
  });
  /** Changes the key alone: prices, models and what others change meanwhile stay. null: removes it. */
  const setKey = async (apiKey: string | null): Promise<void> => {
    await moniker.value.patch('/v1/providers/{provider}', { params: { path }, body: { apiKey } });
    await document.load();
  };
  return { document, setKey };
}

/** The editor of a provider. Its key can be replaced without a change of anything else, and is never shown. */
function ProviderEditor({ name }: { name: string }) {
  const state = useMemo(() => openProvider(name), [name]);
  const { document } = state;
  const isNew = document.etag.value === null;
  const source = document.view.value?.source;
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'providers', title: 'Providers', isHidden: source === 'builtin' }}
      notes={source !== undefined && <SourceNote source={source} />}
      above={(draft) => !isNew && <StoredKey state={state} draft={draft} />}
      fields={(draft) => <ProviderFields draft={draft} isNew={isNew} edit={document.edit} />}
    />
  );
}

function SourceNote({ source }: Pick<View, 'source'>) {
  if (source === 'document') return null;
  return (
    <p class="notice rounded info">
      {source === 'builtin' ? (
        <>
          This provider is built in and needs no key: its model follows commands such as <code>/shell date</code>, so that everything can be
          tried without a model. It cannot be changed.
        </>
      ) : (
        'This provider comes from the settings of the service. If you save, the document takes its place; give its key again then.'
      )}
    </p>
  );
}

/** The typed key is part of the draft: a new base URL needs it again. */
function StoredKey({ state: { document, setKey }, draft }: { state: ReturnType<typeof openProvider>; draft: ProviderDraft }) {
  const typed = draft.apiKey ?? '';
  const hasKey = document.view.value?.hasApiKey === true;
  const state = useSignal<'idle' | 'sending' | 'replaced'>('idle');
  const problem = useSignal<unknown>(null);
  const send = async (key: string | null): Promise<void> => {
    state.value = 'sending';
    problem.value = null;
    try {
      await setKey(key);
      state.value = key === null ? 'idle' : 'replaced';
      announce(key === null ? 'The key is removed' : 'The key is replaced');
    } catch (error) {
      problem.value = error;
      state.value = 'idle';
    }
  };
  return (
    <PlainForm class="box" send={() => send(typed)}>
      <SecretField
        label={hasKey ? 'New key' : 'Key'}
        path="apiKey"
        hint="Replaced at once, alone: prices, models and unsaved changes stay. Stored encrypted, and never shown."
        placeholder={hasKey ? 'A key is set' : 'No key is set'}
        value={typed}
        onInput={(text) => document.edit(withMembers(draft, { apiKey: text.trim() || undefined }))}
      />
      <p class="actions">
        <button type="submit" disabled={typed === '' || state.value === 'sending'}>
          {hasKey ? 'Replace the key' : 'Set the key'}
        </button>
        {hasKey && <ConfirmButton label="Remove the key" question="Remove the key?" onConfirm={() => void send(null)} />}
        {state.value === 'replaced' && <span class="badge ok">key replaced</span>}
      </p>
      {problem.value !== null && <ProblemView error={problem.value} />}
    </PlainForm>
  );
}

type FieldsProps = { draft: ProviderDraft; isNew: boolean; edit(next: ProviderDraft): void };

function ProviderFields({ draft, isNew, edit }: FieldsProps) {
  const secrets = useSecretNames();
  const members = memberFields(draft, edit);
  // What the document says of a model stays with its name, also while others are typed.
  const given = useSignal(draft.models ?? []).value;
  const nameOf = (entry: ModelEntry): string => (typeof entry === 'string' ? entry : entry.model);
  const entryOf = (name: string): ModelEntry => given.find((entry) => nameOf(entry) === name) ?? name;
  const names = (draft.models ?? []).map(nameOf);
  const address = kinds.find(([kind]) => kind === draft.kind)?.[1].address;
  return (
    <>
      <div class="fields two">
        <ChoiceField
          label="Kind"
          path="kind"
          value={draft.kind}
          choices={kinds.map(([kind, { title }]) => [kind, title])}
          onInput={(kind) => edit({ ...draft, kind })}
        />
        {members.word('baseUrl', 'Base URL', {
          hint: 'Everything before /chat/completions, /responses or /messages.',
          placeholder: address,
        })}
        {(draft.kind === 'bedrock' || draft.kind === 'vertex') && members.word('region', 'Region', { placeholder: 'us-east-1' })}
        {draft.kind === 'vertex' && members.word('project', 'Project')}
        {draft.kind === 'azure-openai' && members.word('apiVersion', 'API version', { placeholder: 'v1' })}
        {isNew &&
          members.secret('apiKey', 'Key', {
            hint: 'Stored encrypted, and never shown.',
            onInput: (text) => edit(withMembers(draft, { apiKey: text.trim() || undefined })),
          })}
        {members.word('apiKeySecret', 'Secret with the key', {
          hint: 'Instead of a key: the name of a secret that is bound to the host.',
          suggestions: secrets,
        })}
      </div>
      <NamesField
        label="Models"
        hint="Listed for clients. Others can be used as well."
        placeholder="llama3.2, qwen3"
        path="models"
        value={names}
        onInput={(typed) => edit(withMembers(draft, { models: typed.length > 0 ? typed.map(entryOf) : undefined }))}
      />
      <PriceTable prices={draft.prices ?? {}} models={names} onChange={(prices) => edit(withMembers(draft, { prices }))} />
      <HeaderFields
        headers={draft.headers ?? {}}
        hint="Sent with every request, for example to name a project."
        onChange={(headers) => edit(withMembers(draft, { headers }))}
      />
      <fieldset>
        <legend>Timeouts, after which the fallbacks of an agent or alias are asked</legend>
        <div class="fields two">
          <TimeoutFields draft={draft} edit={edit} placeholder="default" />
        </div>
      </fieldset>
      <JsonField
        label="Profile (JSON)"
        path="profile"
        rows={4}
        hint={'Corrects what Moniker knows of the provider, such as {"protocol": "text"} for models without tools, or {"maxTools": 64}.'}
        value={draft.profile}
        read={readObject}
        onInput={(profile) => edit(withMembers(draft, { profile }))}
      />
    </>
  );
}

type Prices = components['schemas']['Prices'];
type Price = components['schemas']['Price'];
type Row = { model: string } & Partial<Price>;

type PriceProps = { prices: Prices; models: readonly string[]; onChange(prices: Prices | undefined): void };

const members: readonly (readonly [member: keyof Price, label: string])[] = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cachedInput', 'Cached input'],
  ['cacheWrite', 'Cache write'],
];

/** Prices per million tokens, by model. */
function PriceTable({ prices, models, onChange }: PriceProps) {
  // What is typed stays as it is typed: a row may be incomplete for a moment.
  const rows = useSignal<readonly Row[]>(Object.entries(prices).map(([model, price]) => ({ model, ...price })));
  const set = (next: readonly Row[]): void => {
    rows.value = next;
    const named = next.filter(({ model }) => model.trim() !== '');
    // The service says which prices are missing.
    onChange(named.length > 0 ? (Object.fromEntries(named.map(({ model, ...price }) => [model.trim(), price])) as Prices) : undefined);
  };
  return (
    <fieldset>
      <legend>Prices per million tokens</legend>
      {rows.value.length === 0 && (
        <p class="hint">
          None of its own: known models have their list prices. Where costs are limited, models without a price are refused; 0: it costs
          nothing.
        </p>
      )}
      <RowTable class="prices" noun="a price" columns={columns} rows={rows.value} blank={{ model: '' }} onChange={set} />
      <Suggestions id="priced-models" values={models} />
      <FieldFault path="prices" />
    </fieldset>
  );
}

const columns: readonly RowColumn<Row>[] = [
  {
    label: 'Model, or a pattern with *',
    input: ({ model }, change, of) => (
      <CellInput label={`Model of ${of}`} list="priced-models" value={model} onInput={(text) => change({ model: text })} />
    ),
  },
  ...members.map(([member, label]) => numberColumn<Row>(label, member, member === 'input' || member === 'output' ? '' : 'as input')),
];
