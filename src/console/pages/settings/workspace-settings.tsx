/** The settings of the workspace: how long records are kept, what the request log has, and names of tools for all toolsets. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { CheckField, FieldIssues, NumberField, TextField } from '../../parts/fields.tsx';

type Draft = components['schemas']['Workspace'];
type Settings = NonNullable<Draft['settings']>;
type Retention = NonNullable<Settings['retention']>;

const path = { workspace: 'default' };

const days: readonly (readonly [name: keyof Retention, label: string])[] = [
  ['auditDays', 'Audit (days)'],
  ['requestDays', 'Request log (days)'],
  ['usageDays', 'Usage (days)'],
  ['versions', 'Versions of a document'],
];

export function WorkspaceForm() {
  const document = useMemo(
    () =>
      openDocument<Draft>('settings workspace', {
        blank: { settings: {} },
        read: async () => {
          const { data, ...rest } = await moniker.value.GET('/v1/workspaces/{workspace}', { params: { path } });
          return data === undefined ? rest : { ...rest, data: { settings: data.settings ?? {} } };
        },
        write: (draft, header) => moniker.value.PUT('/v1/workspaces/{workspace}', { params: { path, header }, body: draft }),
        remove: async () => ({ response: new Response(null, { status: 405 }) }),
      }),
    [],
  );
  useEffect(() => void document.load(), [document, moniker.value]);
  const { draft, generation, problem } = document;
  const issues = problem.value instanceof MonikerError ? problem.value.issues : [];
  return (
    <div class="editor workspace">
      <DocumentHeader document={document} view="settings" title="Settings" name="workspace" canDelete={false} isPart />
      {draft.value !== null && (
        <FieldIssues.Provider value={issues}>
          <SettingsFields
            key={generation.value}
            settings={draft.value.settings ?? {}}
            change={(settings) => document.edit({ settings: { ...draft.value?.settings, ...settings } })}
          />
        </FieldIssues.Provider>
      )}
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
