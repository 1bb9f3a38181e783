/** The editor of a webhook. Each change is tried with an example event, which shows whether a turn would start, and with which input. */
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import { ChoiceField, FieldIssues, SecretField, TextField } from '../../parts/fields.tsx';
import { AgentFields, CallbackFields } from '../../parts/trigger-fields.tsx';
import { Warnings } from '../../parts/warnings.tsx';
import { pathOf } from '../../router.ts';
import { openWebhook, type WebhookDraft } from './webhook-draft.ts';
import { WebhookTrial } from './webhook-trial.tsx';

const schemes: readonly (readonly [scheme: components['schemas']['WebhookScheme'], label: string])[] = [
  ['standard', 'Standard Webhooks'],
  ['github', 'GitHub'],
  ['stripe', 'Stripe'],
  ['slack', 'Slack'],
  ['hmac', 'Another HMAC signature'],
  ['bearer', 'A secret in a header'],
];

export function WebhookEditor({ name }: { name: string }) {
  const webhook = useMemo(() => openWebhook(name), [name]);
  const { document, shown, warnings, tryDraft } = webhook;
  const { draft, generation, problem, check, etag } = document;
  useEffect(() => {
    void document.load().then(async () => {
      // An error of it is shown by the next check.
      if (document.draft.value !== null) await tryDraft(document.draft.value).catch(() => undefined);
    });
  }, [document, moniker.value]);
  const error = problem.value ?? check.value.error;
  const issues =
    error instanceof MonikerError ? error.issues.map(({ path, message }) => ({ path: path.replace(/^draft\./, ''), message })) : [];
  const url = shown.value?.url ?? '';
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="webhooks" title="Webhooks" name={name} />
      {etag.value !== null && (
        <p class="address">
          {url.startsWith('/') ? 'Path for the sender' : 'URL for the sender'}: <code>{url}</code> <CopyButton text={url} what="the URL" />
          <a href={pathOf('deliveries', null, { webhook: name })}>Its deliveries</a>
        </p>
      )}
      <Warnings warnings={warnings.value} />
      {draft.value !== null && (
        <FieldIssues.Provider value={issues}>
          <WebhookFields
            key={generation.value}
            draft={draft.value}
            edit={document.edit}
            hasSecret={shown.value?.hasSecret ?? false}
            hasCallbackSecret={shown.value?.hasCallbackSecret ?? false}
          />
          <WebhookTrial webhook={webhook} />
          <details>
            <summary>Document</summary>
            <DocumentText document={document} read={(value) => value as WebhookDraft} rows={16} />
          </details>
        </FieldIssues.Provider>
      )}
    </div>
  );
}

type FieldsProps = { draft: WebhookDraft; edit(next: WebhookDraft): void; hasSecret: boolean; hasCallbackSecret: boolean };

function WebhookFields({ draft, edit, hasSecret, hasCallbackSecret }: FieldsProps) {
  const change = (members: { [Name in keyof WebhookDraft]?: WebhookDraft[Name] | undefined }): void => edit(withMembers(draft, members));
  const secret = draft.secret ?? '';
  return (
    <div class="fields">
      <div class="fields two">
        <AgentFields draft={draft} change={change} />
      </div>
      <fieldset>
        <legend>Sender</legend>
        <div class="fields two">
          <ChoiceField
            label="Signed as"
            path="scheme"
            value={draft.scheme}
            choices={schemes}
            onInput={(value) => {
              const scheme = schemes.find(([one]) => one === value)?.[0] ?? 'standard';
              change({ scheme, hmac: scheme === 'hmac' ? { header: 'x-signature' } : undefined, bearer: undefined });
            }}
          />
          <SecretField
            label="Secret"
            path="secret"
            hint="The one that the sender has. Several, for a rotation: as a list in the document."
            placeholder={hasSecret ? 'set; empty keeps it' : ''}
            value={typeof secret === 'string' ? secret : secret.join(' ')}
            onInput={(text) => change({ secret: text || undefined })}
          />
          {draft.scheme === 'hmac' && <HmacFields hmac={draft.hmac} onInput={(hmac) => change({ hmac })} />}
          {draft.scheme === 'bearer' && (
            <TextField
              label="Header"
              path="bearer.header"
              placeholder="authorization"
              value={draft.bearer?.header ?? ''}
              onInput={(header) => change({ bearer: header === '' ? undefined : withMembers(draft.bearer ?? {}, { header }) })}
            />
          )}
        </div>
      </fieldset>
      <fieldset class="fields">
        <legend>Turn</legend>
        <TextField
          label="Filter (CEL)"
          path="filter"
          isCode
          rows={2}
          hint="Over event, payload and headers. Other events are stored as ignored."
          placeholder={'event == "issues" && payload.action == "opened"'}
          value={draft.filter ?? ''}
          onInput={(filter) => change({ filter: filter || undefined })}
        />
        <TextField
          label="Session key"
          path="session"
          isCode
          hint="Deliveries with the same key share a session. {{@delivery}}: a new session for each."
          value={draft.session ?? ''}
          onInput={(session) => change({ session: session || undefined })}
        />
        <TextField
          label="Input"
          path="input"
          isCode
          rows={5}
          hint="The message to the agent. {{path}} is a value of the payload; values are marked as data, not as instructions."
          value={draft.input}
          onInput={(input) => change({ input })}
        />
        <ChoiceField
          label="The sender gets"
          path="respond"
          value={draft.respond ?? 'async'}
          choices={[
            ['async', 'an answer at once; the turn runs in the background'],
            ['sync', 'the text of the turn, within 25 s'],
          ]}
          onInput={(respond) => change({ respond: respond === 'sync' ? 'sync' : undefined })}
        />
      </fieldset>
      <CallbackFields
        draft={draft}
        change={change}
        hasSecret={hasCallbackSecret}
        noun="Deliveries are stored as ignored, and can be replayed."
      />
    </div>
  );
}

type Hmac = components['schemas']['HmacSettings'];

function HmacFields({ hmac = { header: '' }, onInput }: { hmac?: Hmac | undefined; onInput(hmac: Hmac): void }) {
  const text = (name: 'prefix' | 'signed' | 'timestampHeader' | 'idHeader', label: string, placeholder: string) => (
    <TextField
      label={label}
      path={`hmac.${name}`}
      placeholder={placeholder}
      value={hmac[name] ?? ''}
      onInput={(value) => onInput(withMembers(hmac, { [name]: value || undefined }))}
    />
  );
  const algorithms = ['sha256', 'sha1', 'sha512'] as const;
  const encodings = ['hex', 'base64', 'base64url'] as const;
  return (
    <>
      <TextField
        label="Header of the signature"
        path="hmac.header"
        value={hmac.header}
        onInput={(header) => onInput({ ...hmac, header: header.trim() })}
      />
      <ChoiceField
        label="Algorithm"
        path="hmac.algorithm"
        value={hmac.algorithm ?? 'sha256'}
        choices={algorithms.map((one) => [one, one])}
        onInput={(value) => onInput(withMembers(hmac, { algorithm: algorithms.find((one) => one === value) }))}
      />
      <ChoiceField
        label="Encoding"
        path="hmac.encoding"
        value={hmac.encoding ?? 'hex'}
        choices={encodings.map((one) => [one, one])}
        onInput={(value) => onInput(withMembers(hmac, { encoding: encodings.find((one) => one === value) }))}
      />
      {text('prefix', 'Prefix of the signature', 'sha256=')}
      {text('signed', 'Signed text', '{body}')}
      {text('timestampHeader', 'Header of the time', 'if the time is signed')}
      {text('idHeader', 'Header of the id', 'absent: the same request is a repeat')}
    </>
  );
}
