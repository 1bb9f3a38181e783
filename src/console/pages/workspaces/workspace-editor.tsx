/** The settings of a workspace: how long records are kept, what the request log has, and names of tools for all toolsets. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { DocumentEditor } from '../../parts/documents/document-view.tsx';
import { CheckField, NamesField, NumberField, TextField } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { LimitFields } from '../../parts/fields/limit-fields.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';
import { DeleteWorkspace, WorkspaceErasure } from './workspace-deletion.tsx';
import { late } from '../../parts/layout/late.tsx';

const RedactionFields = late(async () => (await import('./redaction-fields.tsx')).RedactionFields);

type Draft = components['schemas']['Workspace'];
type Settings = NonNullable<Draft['settings']>;
type Retention = NonNullable<Settings['retention']>;

const days: readonly (readonly [name: keyof Retention, label: string])[] = [
  ['auditDays', 'Audit (days)'],
  ['requestDays', 'Request log (days)'],
  ['usageDays', 'Usage (days)'],
  ['versions', 'Versions of a document'],
];

function openWorkspace(name: string) {
  return openDocument(`workspaces ${name}`, {
    ...documentAt('/v1/workspaces/{workspace}', { workspace: name }),
    blank: { settings: {} } as Draft,
    toDraft: ({ settings = {} }) => ({ settings }),
  });
}

export function WorkspaceEditor({ name }: { name: string }) {
  const document = useMemo(() => openWorkspace(name), [name]);
  const { view } = document;
  const isUnknown = document.draft.value !== null && view.value === null;
  const onChanged = (changed: components['schemas']['WorkspaceView']) => (view.value = changed);
  if (view.value !== null && view.value.status !== 'active')
    return (
      <div class="editor page">
        <h1>
          <a href={pathOf('workspaces')}>Workspaces</a> / {visible(name)}
        </h1>
        <WorkspaceErasure workspace={view.value} onChanged={onChanged} />
      </div>
    );
  return (
    <DocumentEditor
      {...{ document, name, view: 'workspaces', title: 'Workspaces', canDelete: false, class: 'workspace-fields', isHidden: isUnknown }}
      notes={
        isUnknown && (
          <p class="notice warn rounded">
            There is no workspace of this name. <a href={pathOf('workspaces')}>Create it</a>
          </p>
        )
      }
      below={view.value !== null && <DeleteWorkspace workspace={view.value} onChanged={onChanged} />}
      fields={({ settings = {} }) => (
        <SettingsFields settings={settings} change={(members) => document.edit({ settings: { ...settings, ...members } })} />
      )}
    />
  );
}

function SettingsFields({ settings, change }: { settings: Settings; change(members: Partial<Settings>): void }) {
  const { retention = {}, requestLog = {}, nameMap = {} } = settings;
  const kept = memberFields(retention, (next) => change({ retention: next }), 'settings.retention.');
  return (
    <>
      <h2>How long records are kept</h2>
      <div class="fields two">
        {days.map(([name, label]) => kept.number(name, label, { placeholder: 'default' }))}
        <NumberField
          label="Unused sessions (days)"
          path="settings.retention.sessionDays"
          hint="Sessions that were not used for this long are deleted with their files."
          placeholder="never"
          value={retention.sessionDays ?? undefined}
          onInput={(value) => change({ retention: { ...retention, sessionDays: value ?? null } })}
        />
      </div>
      <h2>Keys</h2>
      <div class="fields two">
        <NumberField
          label="New keys expire after (days)"
          path="settings.keys.expiryDays"
          hint="For keys that are created without an expiry of their own."
          placeholder="never"
          value={settings.keys?.expiryDays ?? undefined}
          onInput={(value) => change({ keys: { expiryDays: value ?? null } })}
        />
      </div>
      <h2>Models</h2>
      <div>
        <NamesField
          label="Only these models"
          path="settings.models"
          hint="For all keys, people, agents, webhooks and schedules. Empty: all."
          placeholder="openai/gpt-5*, anthropic/*"
          value={settings.models ?? []}
          onInput={(list) => change({ models: list.length > 0 ? list : null })}
        />
      </div>
      <h2>Limits of the whole workspace</h2>
      <LimitFields path="settings.limits" limits={settings.limits ?? {}} onInput={(limits) => change({ limits })} />
      <h2>Guard</h2>
      <GuardFields guard={settings.guard ?? null} onInput={(guard) => change({ guard })} />
      <h2>Redaction in results and logs</h2>
      <RedactionFields redaction={settings.redaction ?? null} onInput={(redaction) => change({ redaction })} />
      <h2>Request log</h2>
      <CheckField
        label="Keep the bodies of requests and responses"
        path="settings.requestLog.bodies"
        hint="They contain what people write. Switching it off deletes those that are kept."
        value={requestLog.bodies === true}
        onInput={(bodies) => change({ requestLog: { bodies } })}
      />
      <h2>Names of tools</h2>
      <NameMapField nameMap={nameMap} onInput={(next) => change({ nameMap: next })} />
    </>
  );
}

/** Lines without `=` are not names yet, and stay in the box. */
function NameMapField({ nameMap, onInput }: { nameMap: Record<string, string>; onInput(nameMap: Record<string, string>): void }) {
  const text = useSignal(
    Object.entries(nameMap)
      .map(([name, tool]) => `${name} = ${tool}`)
      .join('\n'),
  );
  return (
    <div>
      <TextField
        label="Further names, in every toolset that has the tool"
        path="settings.nameMap"
        rows={6}
        isCode
        hint="One a line: a name, =, and any name of a tool. Names that a toolset uses itself are left out there."
        value={text.value}
        onInput={(typed) => {
          text.value = typed;
          const pairs = typed.split('\n').flatMap((line) => {
            const [name = '', tool = ''] = line.split('=').map((part) => part.trim());
            return name === '' || tool === '' ? [] : [[name, tool] as const];
          });
          onInput(Object.fromEntries(pairs));
        }}
      />
    </div>
  );
}

type Guard = components['schemas']['Guard'];
const path = 'settings.guard';

/** The guard of a workspace: an endpoint that decides on calls before they run, and on their results. */
function GuardFields({ guard, onInput }: { guard: Guard | null; onInput(guard: Guard | null): void }) {
  const members = guard && memberFields(guard, onInput, `${path}.`);
  return (
    <>
      <CheckField
        label="Ask an endpoint about calls"
        path={guard === null ? path : `${path}.`}
        hint="It is sent each call, or each result, and allows, denies or replaces it."
        value={guard !== null}
        onInput={(isSet) => onInput(isSet ? { url: '', before: true, after: false, onFailure: 'deny', timeoutMs: 3_000 } : null)}
      />
      {guard !== null && members !== null && (
        <>
          <div class="fields two">
            {members.requiredWord('url', 'URL', { placeholder: 'https://guard.example.com/moniker' })}
            {members.word('secret', 'Secret that signs the questions', {
              hint: 'Its hosts must contain that of the URL. Empty: not signed.',
            })}
            {members.number('timeoutMs', 'Timeout (ms)', { placeholder: '3000' })}
            {members.choice('onFailure', 'Without an answer in time', [
              ['deny', 'the call is denied'],
              ['allow', 'the call runs'],
            ])}
          </div>
          <CheckField
            label="Before each call"
            path={`${path}.before`}
            value={guard.before !== false}
            onInput={(before) => onInput({ ...guard, before })}
          />
          {members.check('after', 'After each result')}
          {members.names('toolsets', 'Only calls with these toolsets', { hint: 'Empty: all calls.' })}
        </>
      )}
    </>
  );
}
