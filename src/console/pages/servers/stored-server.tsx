/** What the service knows about a stored server: its health, signing in to it, held definitions and tools. Loaded with the first stored server. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { moniker } from '../../api/moniker.ts';
import { announce } from '../../parts/announce.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { visible } from '../../parts/visible.ts';
import { HeldTools } from './held-tools.tsx';
import type { OpenServer } from './server-state.ts';
import { ServerTools } from './server-tools.tsx';

type StatusProps = { state: OpenServer; view: components['schemas']['ServerView'] };

export function StoredServer({ state, view }: StatusProps) {
  return (
    <>
      <ServerStatus state={state} view={view} />
      <HeldTools state={state} tools={view.tools} />
      <ServerTools state={state} view={view} />
    </>
  );
}

function ServerStatus({ state, view: { kind, health, connection, offers, authorization, oauth } }: StatusProps) {
  const isRefreshing = useSignal(false);
  if (kind === 'static') return null;
  const offered =
    offers === undefined ? [] : [count(offers.prompts, 'prompt'), count(offers.resources + offers.resourceTemplates, 'resource')];
  const others = offered.filter((text) => text !== null).join(', ');
  const refresh = async (): Promise<void> => {
    isRefreshing.value = true;
    const isDone = await state.act(async () => {
      const report = await moniker.value.post('/v1/servers/{server}/refresh', { params: { path: state.path } });
      state.warnings.value = report.warnings;
    });
    isRefreshing.value = false;
    if (isDone) announce('The tools were listed again');
  };
  return (
    <section class="server-status" aria-label="Health">
      <div class="actions">
        <StateBadge state={health?.status ?? 'unknown'} />
        {health?.listedAt != null && (
          <span class="muted">
            listed <Time iso={health.listedAt} />
          </span>
        )}
        {health !== undefined && health.failures > 0 && <span class="muted">{health.failures} failures in a row</span>}
        <span class="grow" />
        {oauth?.grant === 'authorization_code' && <SignIn state={state} isSignedIn={authorization?.status === 'signed-in'} />}
        <button type="button" disabled={isRefreshing.value} onClick={() => void refresh()}>
          {isRefreshing.value ? 'Refreshing…' : 'Refresh'}
        </button>
      </div>
      {health?.reason !== undefined && <p class="notice warn rounded">{visible(health.reason)}</p>}
      <Facts
        rows={[
          ['Server', connection?.server && visible(`${connection.server.name} ${connection.server.version}`)],
          ['Protocol', connection && visible(`MCP ${connection.protocolVersion}`)],
          ['Also offers', others || null],
          ['Signed in', authorization && <Authorization status={authorization} />],
        ]}
      />
    </section>
  );
}

function Authorization({ status: { status, expiresAt, scopes } }: { status: components['schemas']['AuthorizationStatus'] }) {
  return (
    <>
      <StateBadge state={status} /> {scopes !== undefined && scopes.length > 0 && <>with {visible(scopes.join(', '))} </>}
      {status === 'signed-in' && expiresAt !== undefined && (
        <span class="muted">the token is renewed before {new Date(expiresAt).toLocaleString()}</span>
      )}
    </>
  );
}

/** The sign-in happens in a tab of its own; when the user returns, the state is read again. */
function SignIn({ state, isSignedIn }: { state: OpenServer; isSignedIn: boolean }) {
  const url = useSignal<string | null>(null);
  useEffect(() => {
    if (url.value === null) return;
    const reload = (): void => {
      if (!document.hidden) void state.reload().catch(() => undefined);
    };
    addEventListener('focus', reload);
    document.addEventListener('visibilitychange', reload);
    return () => {
      removeEventListener('focus', reload);
      document.removeEventListener('visibilitychange', reload);
    };
  }, [url.value]);
  const { path } = state;
  const begin = () =>
    state.act(async () => {
      const { authorizationUrl } = await moniker.value.post('/v1/servers/{server}/authorize', { params: { path } });
      // The address comes from the authorization server.
      if (!/^https?:\/\//i.test(authorizationUrl)) throw new Error('The authorization server gave an address that is not http(s).');
      url.value = authorizationUrl;
      open(authorizationUrl, '_blank', 'noopener');
    });
  const signOut = () =>
    state.act(async () => {
      url.value = null;
      await moniker.value.delete('/v1/servers/{server}/authorize', { params: { path } });
    });
  if (isSignedIn) return <ConfirmButton label="Sign out" question="Delete the tokens?" onConfirm={() => void signOut()} />;
  return (
    <>
      {url.value !== null && (
        <a href={url.value} target="_blank" rel="noopener noreferrer">
          Continue at {visible(new URL(url.value).host)}
        </a>
      )}
      <button type="button" class="primary" onClick={() => void begin()}>
        Sign in
      </button>
    </>
  );
}

function count(number: number, noun: string): string | null {
  return number === 0 ? null : `${number} ${noun}${number === 1 ? '' : 's'}`;
}
