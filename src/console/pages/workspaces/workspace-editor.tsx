/** The settings of a workspace: how long records are kept, what the request log has, and names of tools for all toolsets. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { CheckField, FieldIssues, NamesField, NumberField, TextField } from '../../parts/fields.tsx';
import { LimitFields } from '../../parts/limit-fields.tsx';
import { visible } from '../../parts/visible.ts';
import { pathOf } from '../../router.ts';
import { DeleteWorkspace, WorkspaceErasure } from './workspace-deletion.tsx';
import { GuardFields } from './guard-fields.tsx';
import { RedactionFields } from './redaction-fields.tsx';

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
  const path = { workspace: name };
  const view = signal<components['schemas']['WorkspaceView'] | null>(null);
  const document = openDocument<Draft>(`workspaces ${name}`, {
    blank: { settings: {} },
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/workspaces/{workspace}', { params: { path } });
      view.value = data ?? null;
      return data === undefined ? rest : { ...rest, data: { settings: data.settings ?? {} } };
    },
    write: (draft, header) => moniker.value.PUT('/v1/workspaces/{workspace}', { params: { path, header }, body: draft }),
    remove: async () => ({ response: new Response(null, { status: 405 }) }),
  });
  return { document, view };
}

export function WorkspaceEditor({ name }: { name: string }) {
  const { document, view } = useMemo(() => openWorkspace(name), [name]);
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, generation, problem } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  const isUnknown = draft.value !== null && view.value === null;
  const onChanged = (changed: components['schemas']['WorkspaceView']): void => {
    view.value = changed;
  };
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
    <div class="editor page workspace-fields">
      <DocumentHeader document={document} view="workspaces" title="Workspaces" name={name} canDelete={false} />
      {isUnknown && (
        <p class="notice warn rounded">
          There is no workspace of this name. <a href={pathOf('workspaces')}>Create it</a>
        </p>
      )}
      {draft.value !== null && !isUnknown && (
        <FieldIssues.Provider value={issues}>
          <SettingsFields
            key={generation.value}
            settings={draft.value.settings ?? {}}
            change={(settings) => document.edit({ settings: { ...draft.value?.settings, ...settings } })}
          />
        </FieldIssues.Provider>
      )}
      {view.value !== null && <DeleteWorkspace workspace={view.value} onChanged={onChanged} />}
    </div>
  );
}

function SettingsFields({ settings, change }: { settings: Settings; change(members: Partial<Settings>): void }) {
  const { retention = {}, requestLog = {}, nameMap = {} } = settings;
  return (
    <div class="fields">
      <h2>How long records are kept</h2>
      <div class="fields two">
        {days.map(([name, label]) => (
          <NumberField
            key={name}
            label={label}
            path={`settings.retention.${name}`}
            placeholder="default"
            value={retention[name] ?? undefined}
            onInput={(value) => {
              const { [name]: _before, ...rest } = retention;
              change({ retention: value === undefined ? rest : { ...rest, [name]: value } });
            }}
          />
        ))}
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
    </div>
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
