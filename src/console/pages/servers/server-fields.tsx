/** The fields of a server, in a tab for each kind. */
import { useSignal } from '@preact/signals';
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { CheckField, ChoiceField, NamesField, NumberField, TextField } from '../../parts/fields.tsx';
import { HeaderFields, useSecretNames } from '../../parts/header-fields.tsx';
import { JsonField } from '../../parts/json-field.tsx';
import { parseDefinitions, type ServerDraft, type DraftKind, withKind } from './server-draft.ts';

type FieldsProps = { draft: ServerDraft; edit(next: ServerDraft): void };
type ChangeProps = { draft: ServerDraft; change(members: { [Name in keyof ServerDraft]?: ServerDraft[Name] | undefined }): void };

const kinds: readonly (readonly [kind: DraftKind, title: string])[] = [
  ['mcp', 'MCP server'],
  ['openapi', 'OpenAPI document'],
  ['static', 'Definitions'],
];

export function ServerFields({ draft, isNew, edit, replace }: FieldsProps & { isNew: boolean; replace(next: ServerDraft): void }) {
  const change: ChangeProps['change'] = (members) => edit(withMembers(draft, members));
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
      {kind === 'mcp' && <McpFields draft={draft} change={change} />}
      {kind === 'openapi' && <OpenApiFields draft={draft} change={change} />}
      {kind === 'static' && <StaticFields draft={draft} change={change} />}
      <HeaderFields
        headers={draft.headers ?? {}}
        hint="Sent with every request. A secret is the whole value, such as Bearer …, and is sent only to the hosts that it is bound to."
        onChange={(headers) => change({ headers })}
      />
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

function Address({ draft, change, ...texts }: ChangeProps & { label: string; hint: string; placeholder: string }) {
  return <TextField {...texts} path="url" value={draft.url ?? ''} onInput={(url) => change({ url: url.trim() })} />;
}

type OAuth = components['schemas']['ServerOAuth'];
const grants: readonly OAuth['grant'][] = ['authorization_code', 'client_credentials'];

function McpFields({ draft, change }: ChangeProps) {
  const secrets = useSecretNames();
  const { oauth } = draft;
  const setOAuth = (members: { [Name in keyof OAuth]?: OAuth[Name] | undefined }): void =>
    change({ oauth: oauth && withMembers(oauth, members) });
  return (
    <>
      <Address
        draft={draft}
        change={change}
        label="Address"
        hint="Its MCP endpoint (Streamable HTTP), in the revisions of 2025 and 2026-07-28."
        placeholder="https://mcp.example.com/mcp"
      />
      <ChoiceField
        label="Sign-in"
        path="oauth"
        value={oauth?.grant ?? ''}
        choices={[
          ['', 'none, or a header'],
          ['authorization_code', 'a person signs in (OAuth)'],
          ['client_credentials', 'with client credentials (OAuth)'],
        ]}
        onInput={(choice) => {
          const grant = grants.find((one) => one === choice);
          change({ oauth: grant && { ...oauth, grant } });
        }}
      />
      {oauth !== undefined && (
        <div class="fields two">
          <TextField
            label="Client id"
            path="oauth.clientId"
            hint={oauth.grant === 'authorization_code' ? 'Empty: Moniker registers itself, if the server allows it.' : undefined}
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

function OpenApiFields({ draft, change }: ChangeProps) {
  const { document } = draft;
  const isPasted = useSignal(document !== undefined);
  const paste = (pasted: boolean): void => {
    isPasted.value = pasted;
    change(pasted ? { url: undefined, document: '' } : { url: '', document: undefined });
  };
  return (
    <>
      <ChoiceField
        label="The document is"
        path="kind"
        value={isPasted.value ? 'pasted' : 'address'}
        choices={[
          ['address', 'at an address, and read every hour'],
          ['pasted', 'pasted here'],
        ]}
        onInput={(choice) => paste(choice === 'pasted')}
      />
      {isPasted.value ? (
        <TextField
          label="Document (JSON or YAML)"
          path="document"
          rows={12}
          isCode
          value={typeof document === 'string' ? document : JSON.stringify(document ?? {}, null, 2)}
          onInput={(text) => change({ document: text })}
        />
      ) : (
        <Address
          draft={draft}
          change={change}
          label="Address of the document"
          hint="OpenAPI 3.0 or 3.1, JSON or YAML."
          placeholder="https://api.example.com/openapi.json"
        />
      )}
      <TextField
        label="Base URL of the operations"
        path="baseUrl"
        placeholder="the first of servers in the document"
        value={draft.baseUrl ?? ''}
        onInput={(baseUrl) => change({ baseUrl: baseUrl.trim() || undefined })}
      />
      <div class="fields two">
        {(['include', 'exclude'] as const).map((member) => (
          <LinesField
            key={member}
            label={member === 'include' ? 'Only these operations' : 'Not these operations'}
            path={member}
            hint="One a line: a tool name, an operation id, tag:NAME, or GET /path/*."
            value={draft[member] ?? []}
            onInput={(lines) => change({ [member]: lines.length > 0 ? lines : undefined })}
          />
        ))}
      </div>
    </>
  );
}

type LinesProps = { label: string; path: string; hint: string; value: readonly string[]; onInput(lines: string[]): void };

function LinesField({ value, onInput, ...rest }: LinesProps) {
  const text = useSignal(value.join('\n'));
  return (
    <TextField
      {...rest}
      rows={3}
      isCode
      value={text.value}
      onInput={(typed) => {
        text.value = typed;
        onInput(
          typed
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== ''),
        );
      }}
    />
  );
}

function StaticFields({ draft, change }: ChangeProps) {
  return (
    <>
      <Address
        draft={draft}
        change={change}
        label="Endpoint"
        hint="Each call is one POST of its name and arguments."
        placeholder="https://tools.example.com/call"
      />
      <JsonField
        label="Definitions (JSON)"
        path="tools"
        rows={14}
        hint="As in the result of MCP’s tools/list."
        value={draft.tools ?? []}
        read={parseDefinitions}
        onInput={(tools) => change({ tools })}
      />
    </>
  );
}
