/** `/console/schedules/{name?}`: the list of schedules, or the editor of one with its runs. */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { openDocument, withMembers } from '../../api/document.ts';
import { documentAt } from '../../api/document-requests.ts';
import { moniker } from '../../api/moniker.ts';
import { DocumentEditor, documentPage } from '../../parts/documents/document-view.tsx';
import { ChoiceField } from '../../parts/fields/fields.tsx';
import { memberFields } from '../../parts/fields/member-fields.tsx';
import { AgentFields, CallbackFields } from '../../parts/fields/trigger-fields.tsx';
import { Records, RecordPages, type Column, StateBadge, Time } from '../../parts/records/records.tsx';
import { duration } from '../../text/format.ts';
import { useAttempt, useEvery, usePages } from '../../api/load.ts';
import { ProblemView } from '../../parts/text/problem-view.tsx';
import { visible } from '../../parts/text/visible.ts';
import { pathOf } from '../../router.ts';

export const SchedulesPage = documentPage({
  Editor: ScheduleEditor,
  view: 'schedules',
  title: 'Schedules',
  about: 'A schedule starts a turn of an agent at given times.',
  noun: 'schedule',
  empty: 'No schedules yet. Create one: name it, then choose when it runs and what it tells the agent.',
  example: 'morning',
  read: (query) => moniker.value.get('/v1/schedules', { params: { query } }),
  row: ({ name, description, agent, cron, timeZone, interval, at, paused }) => ({
    ...{ name, description },
    facts: `${cron ?? (interval === undefined ? at : `every ${interval}`)}${timeZone ? ` ${timeZone}` : ''} → agent/${agent}${paused ? ', paused' : ''}`,
  }),
});

type ScheduleDraft = components['schemas']['ScheduleToWrite'];

function openSchedule(name: string) {
  const path = { schedule: name };
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
  const document = openDocument(`schedules ${name}`, {
    ...documentAt('/v1/schedules/{schedule}', path),
    blank: {
      agent: 'demo',
      cron: '0 9 * * 1-5',
      timeZone: browserZone,
      session: '{{@delivery}}',
      input: 'It is {{@time}}. Say what is due.',
    } as ScheduleDraft,
    toDraft: ({ warnings: _warnings, hasCallbackSecret: _has, nextRunAt: _next, lastRun: _last, ...schedule }) => schedule,
    check: preview,
  });
  return { document, times, preview };
}

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The editor of a schedule, with its next times and its runs. */
function ScheduleEditor({ name }: { name: string }) {
  const { document, times, preview } = useMemo(() => openSchedule(name), [name]);
  const { hasCallbackSecret = false } = document.view.value ?? {};
  return (
    <DocumentEditor
      {...{ document, hasText: true, name, view: 'schedules', title: 'Schedules', onLoaded: preview }}
      above={({ timeZone = null, paused }) => <NextTimes times={times.value} timeZone={timeZone} isPaused={paused === true} />}
      below={document.etag.value !== null && <ScheduleRuns name={name} />}
      fields={(draft) => <ScheduleFields draft={draft} edit={document.edit} hasSecret={hasCallbackSecret} />}
    />
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
  const members = memberFields(draft, edit);
  return (
    <>
      <fieldset>
        <legend>When</legend>
        <div class="fields two">
          <ChoiceField label="It runs" path="kind" value={kind} choices={kinds} onInput={choose} />
          {kind === 'cron' && (
            <>
              {members.required('cron', 'Times (cron)', {
                isCode: true,
                hint: 'Minute, hour, day, month, weekday: 0 9 * * 1-5 is 9:00 from Monday to Friday.',
              })}
              {members.word('timeZone', 'Time zone', { hint: 'Empty: UTC.', suggestions: Intl.supportedValuesOf('timeZone') })}
            </>
          )}
          {kind === 'interval' &&
            members.requiredWord('interval', 'Time between runs', {
              hint: 'Such as 15m, 1h30m or 7d. The first run is one interval after saving.',
            })}
          {kind === 'at' && members.requiredWord('at', 'Time', { hint: 'With its offset, such as 2026-12-24T18:00:00+01:00.' })}
          {members.choice('overlap', 'If the previous run has not ended', [
            ['skip', 'skip the run'],
            ['queue', 'run afterwards'],
          ])}
        </div>
      </fieldset>
      <fieldset class="fields">
        <legend>Turn</legend>
        <div class="fields two">
          <AgentFields draft={draft} edit={edit} />
        </div>
        {members.required('input', 'Input', {
          rows: 4,
          hint: 'The message to the agent. {{@time}} is when the run was due.',
          placeholder: 'Summarize what happened since yesterday.',
        })}
        {members.text('session', 'Session key', {
          isCode: true,
          hint: '{{@delivery}}: a new session for each run. {{@schedule}}: one session for all.',
        })}
      </fieldset>
      <CallbackFields
        draft={draft}
        edit={edit}
        hasSecret={hasSecret}
        noun="Stops all runs. Runs that are due meanwhile are not made up for."
      />
    </>
  );
}

type NextTimesProps = { times: readonly string[] | null; timeZone: string | null; isPaused: boolean };

/** The next five times of a schedule, as it is in the editor, in its time zone and in UTC. */
function NextTimes({ times, timeZone, isPaused }: NextTimesProps) {
  const zone = timeZone ?? 'UTC';
  return (
    <section class="next" aria-label="Next runs">
      <h2>Next runs</h2>
      {isPaused && <p class="notice warn rounded">The schedule is paused: these are the times if it were resumed now.</p>}
      {times?.length === 0 && <p class="muted">It does not run again.</p>}
      {times !== null && times.length > 0 && (
        <Records
          caption="Next runs"
          items={times}
          keyOf={(iso) => iso}
          columns={[
            { label: zone, cell: (iso) => <time dateTime={iso}>{inZone(iso, zone)}</time> },
            ...(zone === 'UTC' ? [] : [{ label: 'UTC', cell: (iso: string) => inZone(iso, 'UTC') }]),
            { label: 'In', cell: (iso) => duration(Math.max(0, Date.parse(iso) - Date.now())) },
          ]}
        />
      )}
    </section>
  );
}

function inZone(iso: string, timeZone: string): string {
  const at = new Date(iso);
  const options = { weekday: 'short', year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  try {
    return at.toLocaleString(undefined, { ...options, timeZone, timeZoneName: 'short' });
  } catch {
    // The browser does not know the zone, which the service does.
    return at.toLocaleString(undefined, { ...options, timeZone: 'UTC', timeZoneName: 'short' });
  }
}

type Run = components['schemas']['Delivery'];

const pollMs = 2_000;

/** The runs of a schedule, newest first, and a run at once. */
function ScheduleRuns({ name }: { name: string }) {
  const { problem, act } = useAttempt();
  const pages = usePages(
    (page, signal) =>
      moniker.value.get('/v1/schedules/{schedule}/runs', {
        params: { path: { schedule: name }, query: { limit: 20, ...page } },
        signal,
      }),
    [name],
  );
  const isOpen = pages.items?.some(({ status }) => status === 'pending' || status === 'running') ?? false;
  useEvery(pollMs, isOpen, pages.reload);
  const run = () =>
    act(
      () => moniker.value.post('/v1/schedules/{schedule}/run', { params: { path: { schedule: name } } }),
      'The run has started',
      pages.reload,
    );
  return (
    <section class="runs" aria-label="Runs">
      <header class="actions">
        <h2>Runs</h2>
        <button type="button" onClick={() => void run()}>
          Run now
        </button>
      </header>
      {problem.value !== null && <ProblemView error={problem.value} />}
      <RecordPages caption="Runs" pages={pages} keyOf={({ id }) => id} columns={columns} hint="It has not run yet. Run it now to try it." />
    </section>
  );
}

const columns: readonly Column<Run>[] = [
  { label: 'Due', cell: ({ receivedAt }) => <Time iso={receivedAt} exact /> },
  { label: 'Status', cell: ({ status }) => <StateBadge state={status} /> },
  { label: 'Reason', cell: ({ reason }) => visible(reason ?? '–') },
  { label: 'Ended', cell: ({ endedAt }) => (endedAt === null ? '–' : <Time iso={endedAt} />) },
  { label: 'Session', cell: ({ session }) => (session === null ? '–' : <a href={pathOf('sessions', session)}>{session.slice(0, 12)}</a>) },
];
