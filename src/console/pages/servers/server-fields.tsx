/** The fields of a server, in a tab for each kind. */
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { visible } from '../../parts/visible.ts';
import { CheckField, ChoiceField, NamesField, NumberField, TextField } from '../../parts/fields.tsx';
import { late } from '../../parts/late.tsx';
import { HeaderFields, useSecretNames } from '../../parts/header-fields.tsx';
import { type ServerChange, type ServerDraft, type DraftKind, withKind } from './server-draft.ts';

const OpenApiFields = late(async () => (await import('./document-fields.tsx')).OpenApiFields);
const StaticFields = late(async () => (await import('./document-fields.tsx')).StaticFields);

type FieldsProps = { draft: ServerDraft; edit(next: ServerDraft): void };
const kinds: readonly (readonly [kind: DraftKind, title: string])[] = [
  ['mcp', 'MCP server'],
  ['openapi', 'OpenAPI document'],
  ['static', 'Definitions'],
];

export function ServerFields({ draft, isNew, edit, replace }: FieldsProps & { isNew: boolean; replace(next: ServerDraft): void }) {
  const change: ServerChange['change'] = (members) => edit(withMembers(draft, members));
  const { kind } = draft;
  return (
    <div class="fields">
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
      {kind === 'mcp' && (draft.command === undefined ? <McpFields draft={draft} change={change} /> : <CommandShown draft={draft} />)}
      {kind === 'openapi' && <OpenApiFields draft={draft} change={change} />}
      {kind === 'static' && <StaticFields draft={draft} change={change} />}
      {draft.command === undefined && (
        <HeaderFields
          headers={draft.headers ?? {}}
          hint="Sent with every request. A secret is the whole value, such as Bearer …, and is sent only to the hosts that it is bound to."
          onChange={(headers) => change({ headers })}
        />
      )}
      <CheckField
        label="Trusted"
        path="trusted"
        hint="Its annotations count: calls that only read run without approval, and destructive ones require it."
        value={draft.trusted === true}
        onInput={(trusted) => change({ trusted: trusted || undefined })}
      />
      {kind !== 'static' && (
        <NumberField
          label="Timeout of a response (ms)"
          path="timeoutMs"
          placeholder="30000"
          value={draft.timeoutMs}
          onInput={(timeoutMs) => change({ timeoutMs })}
        />
      )}
      {draft.trusted === true && (
        <TextField
          label="Instructions for models that get its tools"
          path="instructions"
          rows={3}
          value={draft.instructions ?? ''}
          onInput={(instructions) => change({ instructions: instructions || undefined })}
        />
      )}
    </div>
  );
}

/** A page cannot change what the machine runs. */
function CommandShown({ draft: { command = '', args = [], env = {}, cwd, roots, sampling } }: { draft: ServerDraft }) {
  const shown = (value: string | { secret: string } | { hidden: string }): string => {
    if (typeof value === 'string') return value;
    return 'hidden' in value ? '(hidden)' : `(secret ${value.secret})`;
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${shown(value)}`);
  return (
    <div class="field">
      <span>Command of the machine that Moniker runs on</span>
      <pre>{visible([...variables, command, ...args.map(shown)].join(' '))}</pre>
      <small class="hint">
        {cwd !== undefined && <>In {visible(cwd)}. </>}
        {roots !== undefined && <>Roots: {visible(rootsText(roots))}. </>}
        {sampling === true && <>It may request completions. </>}
        Only the machine itself can change it: with <code>moniker add server</code> or a project file.
      </small>
    </div>
  );
}

function rootsText(roots: NonNullable<ServerDraft['roots']>): string {
  return roots === 'client' ? 'those of the calling MCP client' : roots.map(({ uri }) => uri).join(', ') || 'none';
}

type OAuth = components['schemas']['ServerOAuth'];
const grants: readonly OAuth['grant'][] = ['authorization_code', 'client_credentials'];

function McpFields({ draft, change }: ServerChange) {
  const secrets = useSecretNames();
  const { oauth, roots = [] } = draft;
  const hasList = roots !== 'client' && roots.length > 0;
  const setOAuth = (members: { [Name in keyof OAuth]?: OAuth[Name] | undefined }): void =>
    change({ oauth: oauth && withMembers(oauth, members) });
  return (
    <>
      <TextField
        label="Address"
        path="url"
        hint="Its MCP endpoint (Streamable HTTP), in the revisions of 2025 and 2026-07-28."
        placeholder="https://mcp.example.com/mcp"
        value={draft.url ?? ''}
        onInput={(url) => change({ url: url.trim() })}
      />
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
          change({ oauth: grant && { ...rest, grant, ...(choice === 'user' && { per: 'user' as const }) } });
        }}
      />
      <ChoiceField
        label="Roots"
        path="roots"
        hint="Folders and URLs that it may work with, if it requests them."
        value={roots === 'client' ? 'client' : hasList ? 'list' : ''}
        choices={[['', 'none'], ['client', 'those of the calling MCP client'], ...(hasList ? [['list', rootsText(roots)] as const] : [])]}
        onInput={(choice) => choice !== 'list' && change({ roots: choice === 'client' ? 'client' : undefined })}
      />
      {oauth !== undefined && (
        <div class="fields two">
          <TextField
            label="Client id"
            path="oauth.clientId"
            hint={oauth.grant !== 'client_credentials' ? 'Empty: Moniker registers itself, if the server allows it.' : undefined}
            value={oauth.clientId ?? ''}
            onInput={(clientId) => setOAuth({ clientId: clientId || undefined })}
          />
          <TextField
            label="Secret with the client secret"
            path="oauth.clientSecret"
            suggestions={secrets}
            value={oauth.clientSecret?.secret ?? ''}
            onInput={(secret) => setOAuth({ clientSecret: secret === '' ? undefined : { secret } })}
          />
          <NamesField
            label="Scopes"
            path="oauth.scopes"
            value={oauth.scopes ?? []}
            onInput={(scopes) => setOAuth({ scopes: scopes.length > 0 ? scopes : undefined })}
          />
        </div>
      )}
    </>
  );
}
