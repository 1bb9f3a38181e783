/** The fields of a server, in a tab for each kind. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx';
import { late } from '../../parts/layout/late.tsx';
import { useSecretNames } from '../../api/load.ts';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { type ServerDraft, type DraftKind, type FieldsProps, rootsText, withKind } from './server-draft.ts';

const HeaderFields = late(async () => (await import('../../parts/fields/header-fields.tsx')).HeaderFields);
const OpenApiFields = late(async () => (await import('./document-fields.tsx')).OpenApiFields);
const CommandShown = late(async () => (await import('./document-fields.tsx')).CommandShown);
const StaticFields = late(async () => (await import('./document-fields.tsx')).StaticFields);

const kinds: readonly (readonly [kind: DraftKind, title: string])[] = [
  ['mcp', 'MCP server'],
  ['openapi', 'OpenAPI document'],
  ['static', 'Definitions'],
];

export function ServerFields({ draft, isNew, edit, replace }: FieldsProps & { isNew: boolean; replace(next: ServerDraft): void }) {
  const members = memberFields(draft, edit);
  const { kind } = draft;
  return (
    <>
      {isNew ? (
        <fieldset class="kinds">
          <legend>What brings the tools?</legend>
          <div class="tabs">
            {kinds.map(([one, title]) => (
              <button key={one} type="button" aria-pressed={one === kind} onClick={() => replace(withKind(draft, one))}>
                {title}
              </button>
            ))}
          </div>
        </fieldset>
      ) : (
        <h2 class="configuration">Configuration</h2>
      )}
      {kind === 'mcp' && (draft.command === undefined ? <McpFields draft={draft} edit={edit} /> : <CommandShown draft={draft} />)}
      {kind === 'openapi' && <OpenApiFields draft={draft} edit={edit} />}
      {kind === 'static' && <StaticFields draft={draft} edit={edit} />}
      {draft.command === undefined && (
        <HeaderFields
          headers={draft.headers ?? {}}
          hint="Sent with every request. A secret is the whole value, such as Bearer …, and is sent only to the hosts that it is bound to."
          onChange={(headers) => edit(withMembers(draft, { headers }))}
        />
      )}
      {members.check('trusted', 'Trusted', {
        hint: 'Its annotations count: calls that only read run without approval, and destructive ones require it.',
      })}
      {kind !== 'static' && members.number('timeoutMs', 'Timeout of a response (ms)', { placeholder: '60000' })}
      {draft.trusted === true && members.text('instructions', 'Instructions for models that get its tools', { rows: 3 })}
    </>
  );
}

type OAuth = components['schemas']['ServerOAuth'];
const grants: readonly OAuth['grant'][] = ['authorization_code', 'client_credentials'];

function McpFields({ draft, edit }: FieldsProps) {
  const secrets = useSecretNames();
  const { oauth, roots = [] } = draft;
  const hasList = roots !== 'client' && roots.length > 0;
  const setOAuth = (next: OAuth | undefined): void => edit(withMembers(draft, { oauth: next }));
  const members = memberFields<OAuth>(oauth ?? {}, setOAuth, 'oauth.');
  return (
    <>
      {memberFields(draft, edit).requiredWord('url', 'Address', {
        hint: 'Its MCP endpoint (Streamable HTTP), in the revisions of 2025 and 2026-07-28.',
        placeholder: 'https://mcp.example.com/mcp',
      })}
      <ChoiceField
        label="Sign-in"
        path="oauth"
        value={oauth?.per === 'user' ? 'user' : (oauth && (oauth.grant ?? 'authorization_code')) || ''}
        choices={[
          ['', 'none, or a header'],
          ['authorization_code', 'one account for all: a person signs in (OAuth)'],
          ['user', 'each user connects an account (OAuth)'],
          ['client_credentials', 'with client credentials (OAuth)'],
        ]}
        onInput={(choice) => {
          const { per: _per, ...rest } = oauth ?? {};
          const grant = choice === 'user' ? 'authorization_code' : grants.find((one) => one === choice);
          setOAuth(grant && { ...rest, grant, ...(choice === 'user' && { per: 'user' as const }) });
        }}
      />
      <ChoiceField
        label="Roots"
        path="roots"
        hint="Folders and URLs that it may work with, if it requests them."
        value={roots === 'client' ? 'client' : hasList ? 'list' : ''}
        choices={[['', 'none'], ['client', 'those of the calling MCP client'], ...(hasList ? [['list', rootsText(roots)] as const] : [])]}
        onInput={(choice) => choice !== 'list' && edit(withMembers(draft, { roots: choice === 'client' ? 'client' : undefined }))}
      />
      {oauth !== undefined && (
        <div class="fields two">
          {members.text('clientId', 'Client id', {
            hint: oauth.grant !== 'client_credentials' ? 'Empty: Moniker registers itself, if the server allows it.' : undefined,
          })}
          <TextField
            label="Secret with the client secret"
            path="oauth.clientSecret"
            suggestions={secrets}
            value={oauth.clientSecret?.secret ?? ''}
            onInput={(secret) => setOAuth(withMembers(oauth, { clientSecret: secret === '' ? undefined : { secret } }))}
          />
          {members.names('scopes', 'Scopes')}
        </div>
      )}
    </>
  );
}
