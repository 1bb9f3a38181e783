/** The editor of a schedule, with its next times and its runs. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { MonikerError, type components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentHeader } from '../../parts/document-header.tsx';
import { DocumentText } from '../../parts/document-text.tsx';
import { ChoiceField, FieldIssues, TextField } from '../../parts/fields.tsx';
import { AgentFields, CallbackFields } from '../../parts/trigger-fields.tsx';
import { Warnings } from '../../parts/warnings.tsx';
import { NextTimes } from './next-times.tsx';
import { ScheduleRuns } from './schedule-runs.tsx';

type ScheduleDraft = components['schemas']['ScheduleToWrite'];

function openSchedule(name: string) {
  const path = { schedule: name };
  const warnings = signal<readonly components['schemas']['Warning'][]>([]);
  const hasCallbackSecret = signal(false);
  /** Of the draft, as far as it is valid; null: not known yet. */
  const times = signal<readonly string[] | null>(null);
  const preview = async (draft: ScheduleDraft, aborted?: AbortSignal): Promise<void> => {
    const answer = await moniker.value.post('/v1/schedules/{schedule}/next', {
      params: { path },
      body: { draft },
      signal: aborted ?? null,
    });
    times.value = answer.times;
  };
  const document = openDocument<ScheduleDraft>(`schedules ${name}`, {
    blank: {
      agent: 'demo',
      cron: '0 9 * * 1-5',
      timeZone: browserZone,
      session: '{{@delivery}}',
      input: 'It is {{@time}}. Say what is due.',
    },
    read: async () => {
      const { data, ...rest } = await moniker.value.GET('/v1/schedules/{schedule}', { params: { path } });
      if (data === undefined) return rest;
      const { warnings: found = [], hasCallbackSecret: has, nextRunAt: _next, lastRun: _last, ...schedule } = data;
      warnings.value = found;
      hasCallbackSecret.value = has;
      return { ...rest, data: schedule };
    },
    check: preview,
    write: (draft, header) => moniker.value.PUT('/v1/schedules/{schedule}', { params: { path, header }, body: draft }),
    remove: (header) => moniker.value.DELETE('/v1/schedules/{schedule}', { params: { path, header } }),
  });
  return { document, warnings, hasCallbackSecret, times, preview };
}

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function ScheduleEditor({ name }: { name: string }) {
  const { document, warnings, hasCallbackSecret, times, preview } = useMemo(() => openSchedule(name), [name]);
  useEffect(() => {
    void document.load().then(async () => {
      // An error of it is shown by the next check.
      if (document.draft.value !== null) await preview(document.draft.value).catch(() => undefined);
    });
  }, [document, moniker.value]);
  const { draft, etag, generation, problem, check } = document;
  const error = problem.value ?? check.value.error;
  const issues =
    error instanceof MonikerError ? error.issues.map(({ path, message }) => ({ path: path.replace(/^draft\./, ''), message })) : [];
  return (
    <div class="editor page">
      <DocumentHeader document={document} view="schedules" title="Schedules" name={name} />
      <Warnings warnings={warnings.value} />
      {draft.value !== null && (
        <FieldIssues.Provider value={issues}>
          <NextTimes times={times.value} timeZone={draft.value.timeZone ?? null} isPaused={draft.value.paused === true} />
          <ScheduleFields key={generation.value} draft={draft.value} edit={document.edit} hasSecret={hasCallbackSecret.value} />
          <details>
            <summary>Document</summary>
            <DocumentText document={document} read={(value) => value as ScheduleDraft} rows={16} />
          </details>
        </FieldIssues.Provider>
      )}
      {etag.value !== null && <ScheduleRuns name={name} />}
    </div>
  );
}

const kinds = [
  ['cron', 'at times of the calendar (cron)'],
  ['interval', 'every so often'],
  ['at', 'once'],
] as const;

function ScheduleFields({ draft, edit, hasSecret }: { draft: ScheduleDraft; edit(next: ScheduleDraft): void; hasSecret: boolean }) {
  const change = (members: { [Name in keyof ScheduleDraft]?: ScheduleDraft[Name] | undefined }): void => edit(withMembers(draft, members));
  const kind = draft.interval !== undefined ? 'interval' : draft.at !== undefined ? 'at' : 'cron';
  const none = { cron: undefined, timeZone: undefined, interval: undefined, at: undefined };
  const choose = (chosen: string): void => {
    if (chosen === 'interval') change({ ...none, interval: '1h' });
    else if (chosen === 'at') change({ ...none, at: new Date(Date.now() + 3_600_000).toISOString() });
    else change({ ...none, cron: '0 9 * * 1-5', timeZone: browserZone });
  };
  return (
    <div class="fields">
      <fieldset>
        <legend>When</legend>
        <div class="fields two">
          <ChoiceField label="It runs" path="kind" value={kind} choices={kinds} onInput={choose} />
          {kind === 'cron' && (
            <>
              <TextField
                label="Times (cron)"
                path="cron"
                isCode
                hint="Minute, hour, day, month, weekday: 0 9 * * 1-5 is 9:00 from Monday to Friday."
                value={draft.cron ?? ''}
                onInput={(cron) => change({ cron })}
              />
              <TextField
                label="Time zone"
                path="timeZone"
                hint="Empty: UTC."
                value={draft.timeZone ?? ''}
                suggestions={Intl.supportedValuesOf('timeZone')}
                onInput={(zone) => change({ timeZone: zone.trim() || undefined })}
              />
            </>
          )}
          {kind === 'interval' && (
            <TextField
              label="Time between runs"
              path="interval"
              hint="Such as 15m, 1h30m or 7d. The first run is one interval after saving."
              value={draft.interval ?? ''}
              onInput={(interval) => change({ interval: interval.trim() })}
            />
          )}
          {kind === 'at' && (
            <TextField
              label="Time"
              path="at"
              hint="With its offset, such as 2026-12-24T18:00:00+01:00."
              value={draft.at ?? ''}
              onInput={(at) => change({ at: at.trim() })}
            />
          )}
          <ChoiceField
            label="If the previous run has not ended"
            path="overlap"
            value={draft.overlap ?? 'skip'}
            choices={[
              ['skip', 'skip the run'],
              ['queue', 'run afterwards'],
            ]}
            onInput={(overlap) => change({ overlap: overlap === 'queue' ? 'queue' : undefined })}
          />
        </div>
      </fieldset>
      <fieldset class="fields">
        <legend>Turn</legend>
        <div class="fields two">
          <AgentFields draft={draft} change={change} />
        </div>
        <TextField
          label="Input"
          path="input"
          rows={4}
          hint="The message to the agent. {{@time}} is when the run was due."
          placeholder="Summarize what happened since yesterday."
          value={draft.input}
          onInput={(input) => change({ input })}
        />
        <TextField
          label="Session key"
          path="session"
          isCode
          hint="{{@delivery}}: a new session for each run. {{@schedule}}: one session for all."
          value={draft.session ?? ''}
          onInput={(session) => change({ session: session || undefined })}
        />
      </fieldset>
      <CallbackFields
        draft={draft}
        change={change}
        hasSecret={hasSecret}
        noun="Stops all runs. Runs that are due meanwhile are not made up for."
      />
    </div>
  );
}
