/** The editor of a secret: what it is bound to, and a new value. The stored value cannot be read. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { useLoaded } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { FieldIssues, NamesField, SecretField } from '../../parts/fields.tsx';
import { Time } from '../../parts/time.tsx';

type SecretDraft = Pick<components['schemas']['Secret'], 'hosts' | 'tools'> & { value?: string };

function openSecret(name: string) {
  const path = { secret: name };
  const times = signal<{ createdAt: string; updatedAt: string } | null>(null);
  const document = openDocument<SecretDraft>(`secrets ${name}`, {
    blank: { hosts: [] },
    // The value is not written to the storage of the tab.
    toKept: ({ value: _value, ...draft }) => draft,
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/secrets/{secret}', { params: { path } });
      times.value = data ?? null;
      return data === undefined ? rest : { ...rest, data: { hosts: data.hosts, ...(data.tools && { tools: data.tools }) } };
    },
    write: ({ value = '', hosts, tools }, header) =>
      moniker.value.PUT('/v1/secrets/{secret}', { params: { path, header }, body: { value, hosts, ...(tools && { tools }) } }),
    remove: (header) => moniker.value.DELETE('/v1/secrets/{secret}', { params: { path, header } }),
  });
  return { document, times };
}

export function SecretEditor({ name }: { name: string }) {
  const { document, times } = useMemo(() => openSecret(name), [name]);
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, etag, generation, problem } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  const isNew = etag.value === null;
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="secrets" title="Secrets" name={name} isBlocked={draft.value?.value === undefined} />
      {times.value !== null && (
        <p class="muted">
          Created <Time iso={times.value.createdAt} />, changed <Time iso={times.value.updatedAt} />. Its value cannot be shown.
        </p>
      )}
      {draft.value !== null && (
        <FieldIssues.Provider value={issues}>
          <SecretFields key={generation.value} draft={draft.value} isNew={isNew} edit={document.edit} />
        </FieldIssues.Provider>
      )}
    </div>
  );
}

function SecretFields({ draft, isNew, edit }: { draft: SecretDraft; isNew: boolean; edit(next: SecretDraft): void }) {
  const tools = useLoaded((aborted) =>
    moniker.value.get('/v1/tools', { params: { query: { limit: 100, fields: 'summary' } }, signal: aborted }),
  );
  const change = (members: { [Name in keyof SecretDraft]?: SecretDraft[Name] | undefined }): void => edit(withMembers(draft, members));
  return (
    <div class="fields">
      <SecretField
        label={isNew ? 'Value' : 'New value'}
        path="value"
        hint={
          isNew
            ? 'Sent unchanged: for a header authorization it is Bearer and the token.'
            : 'Needed for every change: else the stored value could be sent to another host by someone who does not know it.'
        }
        value={draft.value ?? ''}
        onInput={(value) => change({ value: value || undefined })}
      />
      <NamesField
        label="Hosts"
        path="hosts"
        hint="The only hosts that it may be sent to, such as api.example.com, *.example.com or 127.0.0.1:8080."
        placeholder="api.example.com"
        value={draft.hosts}
        onInput={(hosts) => change({ hosts })}
      />
      <NamesField
        label="Tools"
        path="tools"
        hint="Only these tools may use it. Empty: whatever names it, such as a server or a provider."
        placeholder={tools.data?.items
          .slice(0, 2)
          .map(({ canonical }) => canonical)
          .join(', ')}
        value={draft.tools ?? []}
        onInput={(names) => change({ tools: names.length > 0 ? names : undefined })}
      />
    </div>
  );
}
