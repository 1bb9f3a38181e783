/** `/console/webhooks/{name?}`: the list of webhooks, or the editor of one. */
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { withMembers } from '../../api/document.ts';
import { CopyButton } from '../../parts/actions/copy-button.tsx';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { ChoiceField, SecretField, TextField } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { AgentFields, CallbackFields } from '../../parts/fields/trigger-fields.tsx';
import { pathOf } from '../../router.ts';
import { openWebhook, type WebhookDraft } from './webhook-draft.ts';
import { WebhookTrial } from './webhook-trial.tsx';
import { moniker } from '../../api/moniker.ts';

export const WebhooksPage = documentPage({
  Editor: WebhookEditor,
  view: 'webhooks',
  title: 'Webhooks',
  about: 'A webhook starts a turn of an agent for each event that another service sends.',
  noun: 'webhook',
  empty: 'No webhooks yet. Create one: name it, then choose who signs its events and what it tells the agent.',
  example: 'triage',
  read: (query) => moniker.value.get('/v1/webhooks', { params: { query } }),
  row: ({ name, description, agent, scheme, paused }) => ({
    ...{ name, description },
    facts: `${scheme} → agent/${agent}${paused ? ', paused' : ''}`,
  }),
});

const schemes: readonly (readonly [scheme: components['schemas']['WebhookScheme'], label: string])[] = [
  ['standard', 'Standard Webhooks'],
  ['github', 'GitHub'],
  ['stripe', 'Stripe'],
  ['slack', 'Slack'],
  ['hmac', 'Another HMAC signature'],
  ['bearer', 'A secret in a header'],
];

/** The editor of a webhook. Each change is tried with an example event, which shows whether a turn would start, and with which input. */
function WebhookEditor({ name }: { name: string }) {
  const webhook = useMemo(() => openWebhook(name), [name]);
  const { document, tryDraft } = webhook;
  const { url = '', hasSecret = false, hasCallbackSecret = false } = document.view.value ?? {};
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'webhooks', title: 'Webhooks', onLoaded: tryDraft }}
      notes={
        document.etag.value !== null && (
          <p class="address">
            {url.startsWith('/') ? 'Path for the sender' : 'URL for the sender'}: <code>{url}</code>{' '}
            <CopyButton text={url} what="the URL" />
            <a href={pathOf('deliveries', null, { webhook: name })}>Its deliveries</a>
          </p>
        )
      }
      below={document.draft.value !== null && <WebhookTrial webhook={webhook} />}
      fields={(draft) => <WebhookFields {...{ draft, edit: document.edit, hasSecret, hasCallbackSecret }} />}
    />
  );
}

type FieldsProps = { draft: WebhookDraft; edit(next: WebhookDraft): void; hasSecret: boolean; hasCallbackSecret: boolean };

function WebhookFields({ draft, edit, hasSecret, hasCallbackSecret }: FieldsProps) {
  const members = memberFields(draft, edit);
  const secret = draft.secret ?? '';
  return (
    <>
      <div class="fields two">
        <AgentFields draft={draft} edit={edit} />
      </div>
      <fieldset>
        <legend>Sender</legend>
        <div class="fields two">
          <ChoiceField
            label="Signed as"
            path="scheme"
            value={draft.scheme}
            choices={schemes}
            onInput={(scheme) => {
              const { hmac: _hmac, bearer: _bearer, ...rest } = draft;
              edit({ ...rest, scheme, ...(scheme === 'hmac' && { hmac: { header: 'x-signature' } }) });
            }}
          />
          <SecretField
            label="Secret"
            path="secret"
            hint="The one that the sender has. Several, for a rotation: as a list in the document."
            placeholder={hasSecret ? 'set; empty keeps it' : ''}
            value={typeof secret === 'string' ? secret : secret.join(' ')}
            onInput={(text) => edit(withMembers(draft, { secret: text || undefined }))}
          />
          {draft.scheme === 'hmac' && <HmacFields hmac={draft.hmac} onInput={(hmac) => edit({ ...draft, hmac })} />}
          {draft.scheme === 'bearer' && (
            <TextField
              label="Header"
              path="bearer.header"
              placeholder="authorization"
              value={draft.bearer?.header ?? ''}
              onInput={(header) =>
                edit(withMembers(draft, { bearer: header === '' ? undefined : withMembers(draft.bearer ?? {}, { header }) }))
              }
            />
          )}
        </div>
      </fieldset>
      <fieldset class="fields">
        <legend>Turn</legend>
        {members.text('filter', 'Filter (CEL)', {
          isCode: true,
          rows: 2,
          hint: 'Over event, payload and headers. Other events are stored as ignored.',
          placeholder: 'event == "issues" && payload.action == "opened"',
        })}
        {members.text('session', 'Session key', {
          isCode: true,
          hint: 'Deliveries with the same key share a session. {{@delivery}}: a new session for each.',
        })}
        {members.required('input', 'Input', {
          isCode: true,
          rows: 5,
          hint: 'The message to the agent. {{path}} is a value of the payload; values are marked as data, not as instructions.',
        })}
        {members.choice('respond', 'The sender gets', [
          ['async', 'an answer at once; the turn runs in the background'],
          ['sync', 'the text of the turn, within 25 s'],
        ])}
      </fieldset>
      <CallbackFields
        draft={draft}
        edit={edit}
        hasSecret={hasCallbackSecret}
        noun="Deliveries are stored as ignored, and can be replayed."
      />
    </>
  );
}

type Hmac = components['schemas']['HmacSettings'];
const same = (...values: string[]) => values.map((one) => [one, one] as const);

function HmacFields({ hmac = { header: '' }, onInput }: { hmac?: Hmac | undefined; onInput(hmac: Hmac): void }) {
  const members = memberFields(hmac, onInput, 'hmac.');
  return (
    <>
      {members.requiredWord('header', 'Header of the signature')}
      {members.choice('algorithm', 'Algorithm', same('sha256', 'sha1', 'sha512'))}
      {members.choice('encoding', 'Encoding', same('hex', 'base64', 'base64url'))}
      {members.text('prefix', 'Prefix of the signature', { placeholder: 'sha256=' })}
      {members.text('signed', 'Signed text', { placeholder: '{body}' })}
      {members.text('timestampHeader', 'Header of the time', { placeholder: 'if the time is signed' })}
      {members.text('idHeader', 'Header of the id', { placeholder: 'absent: the same request is a repeat' })}
    </>
  );
}
