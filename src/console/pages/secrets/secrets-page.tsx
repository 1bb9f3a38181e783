/** `/console/secrets/{name?}`: secrets with the hosts that they may be sent to, or the editor of one. Values are never shown. */
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { useNames } from '../../api/load.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { Time } from '../../parts/records/records.tsx';

export const SecretsPage = documentPage({
  Editor: SecretEditor,
  view: 'secrets',
  title: 'Secrets',
  about:
    'A secret is a value that servers, providers and tools use by its name. It is sent only to its hosts, stored encrypted, and never shown again.',
  noun: 'secret',
  empty: 'No secrets yet. Add one: name it, then give its value and the hosts that may receive it.',
  example: 'GITHUB_TOKEN',
  read: (query) => moniker.value.get('/v1/secrets', { params: { query } }),
  row: ({ name, hosts, tools, updatedAt }) => ({
    name,
    description: `for ${hosts.join(', ')}`,
    facts: (
      <>
        {tools !== undefined && `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, `}
        changed <Time iso={updatedAt} />
      </>
    ),
  }),
});

type SecretDraft = Pick<components['schemas']['Secret'], 'hosts' | 'tools'> & { value?: string };

function openSecret(name: string) {
  const api = documentAt('/v1/secrets/{secret}', { secret: name });
  return openDocument(`secrets ${name}`, {
    ...api,
    blank: { hosts: [] } as SecretDraft,
    // The value is not written to the storage of the tab.
    toKept: ({ value: _value, ...draft }) => draft,
    toDraft: ({ hosts, tools }) => ({ hosts, ...(tools && { tools }) }),
    write: ({ value = '', ...bound }, header) => api.write({ value, ...bound }, header),
  });
}

/** The editor of a secret: what it is bound to, and a new value. The stored value cannot be read. */
function SecretEditor({ name }: { name: string }) {
  const document = useMemo(() => openSecret(name), [name]);
  const isNew = document.etag.value === null;
  const times = document.view.value;
  return (
    <DocumentEditor
      {...{ document, name, view: 'secrets', title: 'Secrets', isBlocked: document.draft.value?.value === undefined }}
      notes={
        times !== null && (
          <p class="muted">
            Created <Time iso={times.createdAt} />, changed <Time iso={times.updatedAt} />. Its value cannot be shown.
          </p>
        )
      }
      fields={(draft) => <SecretFields draft={draft} isNew={isNew} edit={document.edit} />}
    />
  );
}

function SecretFields({ draft, isNew, edit }: { draft: SecretDraft; isNew: boolean; edit(next: SecretDraft): void }) {
  const tools = useNames((signal) => moniker.value.get('/v1/tools', { params: { query: { limit: 100, fields: 'summary' } }, signal }));
  const members = memberFields(draft, edit);
  return (
    <>
      {members.secret('value', isNew ? 'Value' : 'New value', {
        hint: isNew
          ? 'Sent unchanged: for a header authorization it is Bearer and the token.'
          : 'Needed for every change: else the stored value could be sent to another host by someone who does not know it.',
      })}
      {members.names('hosts', 'Hosts', {
        hint: 'The only hosts that it may be sent to, such as api.example.com, *.example.com or 127.0.0.1:8080.',
        placeholder: 'api.example.com',
        onInput: (hosts) => edit({ ...draft, hosts }),
      })}
      {members.names('tools', 'Tools', {
        hint: 'Only these tools may use it. Empty: whatever names it, such as a server or a provider.',
        placeholder: tools.slice(0, 2).join(', '),
      })}
    </>
  );
}
