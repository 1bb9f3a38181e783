/** The editor of a provider. Its key can be replaced without a change of anything else, and is never shown. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import { ChoiceField, FieldIssues, NamesField, SecretField, TextField } from '../../parts/fields.tsx';
import { HeaderFields, useSecretNames } from '../../parts/header-fields.tsx';
import { JsonField, readObject } from '../../parts/json-field.tsx';
import { ProblemView } from '../../parts/problem-view.tsx';
import { PriceTable } from './price-table.tsx';

type View = components['schemas']['ProviderView'];
export type ProviderDraft = Omit<View, 'name' | 'hasApiKey' | 'source'> & { apiKey?: string };

/** Where requests go if there is no `baseUrl`. */
const kinds: readonly (readonly [kind: View['kind'], title: string, address: string])[] = [
  ['openai-compatible', 'OpenAI-compatible', 'http://127.0.0.1:11434/v1'],
  ['openai', 'OpenAI (Chat Completions)', 'https://api.openai.com/v1'],
  ['openai-responses', 'OpenAI (Responses)', 'https://api.openai.com/v1'],
  ['anthropic', 'Anthropic', 'https://api.anthropic.com/v1'],
  ['gemini', 'Gemini', 'https://generativelanguage.googleapis.com/v1beta'],
  ['cohere', 'Cohere', 'https://api.cohere.com/v2'],
];

function openProvider(name: string) {
  const path = { provider: name };
  const stored = signal<View | null>(null);
  const blankKind = kinds.find(([kind]) => kind === name)?.[0] ?? 'openai-compatible';
  const document = openDocument<ProviderDraft>(`providers ${name}`, {
    blank: { kind: blankKind },
    // A key is not written to the storage of the tab.
    toKept: ({ apiKey: _key, ...draft }) => draft,
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/providers/{provider}', { params: { path } });
      stored.value = data ?? null;
      if (data === undefined) return rest;
      const { name: _name, hasApiKey: _key, source: _source, ...draft } = data;
      return { ...rest, data: draft };
    },
    write: (draft, header) =>
      // The kind `rehearsal` is built in, and has no editor.
      moniker.value.PUT('/v1/providers/{provider}', { params: { path, header }, body: draft as components['schemas']['Provider'] }),
    remove: (header) => moniker.value.DELETE('/v1/providers/{provider}', { params: { path, header } }),
  });
  /** Changes the key alone: prices, models and what others change meanwhile stay. null: removes it. */
  const setKey = async (apiKey: string | null): Promise<void> => {
    await moniker.value.patch('/v1/providers/{provider}', { params: { path }, body: { apiKey } });
    await document.load();
  };
  return { document, stored, setKey };
}

export function ProviderEditor({ name }: { name: string }) {
  const state = useMemo(() => openProvider(name), [name]);
  const { document, stored } = state;
  useEffect(() => void document.load(), [state, moniker.value]);
  const { draft, etag, generation, problem } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  const isBuiltin = stored.value?.source === 'builtin';
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="providers" title="Providers" name={name} />
      {isBuiltin && (
        <p class="notice rounded info">
          This provider is built in and needs no key: its model follows commands such as <code>/shell date</code>, so that everything can be
          tried without a model. It cannot be changed.
        </p>
      )}
      {stored.value?.source === 'settings' && (
        <p class="notice rounded info">
          This provider comes from the settings of the service. If you save, the document takes its place; give its key again then.
        </p>
      )}
      {draft.value !== null && !isBuiltin && (
        <FieldIssues.Provider value={issues}>
          {etag.value !== null && <StoredKey state={state} draft={draft.value} />}
          <ProviderFields key={generation.value} draft={draft.value} isNew={etag.value === null} edit={document.edit} />
          <details>
            <summary>Document</summary>
            <DocumentText document={document} read={(value) => value as ProviderDraft} rows={16} />
          </details>
        </FieldIssues.Provider>
      )}
    </div>
  );
}

/** The typed key is part of the draft: a new base URL needs it again. */
function StoredKey({ state: { document, stored, setKey }, draft }: { state: ReturnType<typeof openProvider>; draft: ProviderDraft }) {
  const typed = draft.apiKey ?? '';
  const hasKey = stored.value?.hasApiKey === true;
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
    <form
      class="box"
      onSubmit={(event) => {
        event.preventDefault();
        void send(typed);
      }}
    >
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
    </form>
  );
}

type FieldsProps = { draft: ProviderDraft; isNew: boolean; edit(next: ProviderDraft): void };

function ProviderFields({ draft, isNew, edit }: FieldsProps) {
  const secrets = useSecretNames();
  const change = (members: { [Name in keyof ProviderDraft]?: ProviderDraft[Name] | undefined }): void => edit(withMembers(draft, members));
  const address = kinds.find(([kind]) => kind === draft.kind)?.[2];
  return (
    <div class="fields">
      <div class="fields two">
        <ChoiceField
          label="Kind"
          path="kind"
          value={draft.kind}
          choices={kinds.map(([kind, title]) => [kind, title])}
          onInput={(choice) => change({ kind: kinds.find(([kind]) => kind === choice)?.[0] ?? draft.kind })}
        />
        <TextField
          label="Base URL"
          path="baseUrl"
          hint="Everything before /chat/completions, /responses or /messages."
          placeholder={address}
          value={draft.baseUrl ?? ''}
          onInput={(baseUrl) => change({ baseUrl: baseUrl.trim() || undefined })}
        />
        {isNew && (
          <SecretField
            label="Key"
            path="apiKey"
            hint="Stored encrypted, and never shown."
            value={draft.apiKey ?? ''}
            onInput={(apiKey) => change({ apiKey: apiKey.trim() || undefined })}
          />
        )}
        <TextField
          label="Secret with the key"
          path="apiKeySecret"
          hint="Instead of a key: the name of a secret that is bound to the host."
          suggestions={secrets}
          value={draft.apiKeySecret ?? ''}
          onInput={(secret) => change({ apiKeySecret: secret.trim() || undefined })}
        />
      </div>
      <NamesField
        label="Models"
        path="models"
        hint="Listed for clients. Others can be used as well."
        placeholder="llama3.2, qwen3"
        value={draft.models ?? []}
        onInput={(models) => change({ models: models.length > 0 ? models : undefined })}
      />
      <PriceTable prices={draft.prices ?? {}} models={draft.models ?? []} onChange={(prices) => change({ prices })} />
      <HeaderFields
        headers={draft.headers ?? {}}
        hint="Sent with every request, for example to name a project."
        onChange={(headers) => change({ headers })}
      />
      <JsonField
        label="Profile (JSON)"
        path="profile"
        rows={4}
        hint={'Corrects what Moniker knows of the provider, such as {"protocol": "text"} for models without tools, or {"maxTools": 64}.'}
        value={draft.profile}
        read={readObject}
        onInput={(profile) => change({ profile })}
      />
    </div>
  );
}
