/** The frame of the console: sidebar, the view that the path names, the palette, and messages for screen readers. */
import { signal, useComputed } from '@preact/signals';
import { type ComponentChildren, type ComponentType, Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { components } from '../../../../client/src/index.ts';
import { pollHeldServers } from '../../api/held-servers.ts';
import { pollInbox } from '../../api/inbox.ts';
import { followMe, hasAccess, isAsking, me } from '../../api/me.ts';
import { retryAt } from '../../api/moniker.ts';
import { apiKey } from '../../api/key.ts';
import { chosenWorkspace } from '../../api/workspace.ts';
import { visible } from '../../parts/text/visible.ts';
import { sendRequest } from '../../api/request.ts';
import { announcement } from '../../api/announce.ts';
import { HeaderMenu, KeyMenu } from '../../parts/actions/key-menu.tsx';
import { useListeners } from '../../parts/layout/use-listeners.ts';
import { late } from '../../parts/layout/late.tsx';
import { navigate, pathOf, place, type ViewProps } from '../../router.ts';
import { isListOpen, RecentChats } from './recent-chats.tsx';
import { KeyPage } from './key-page.tsx';
import { openPalette, Palette } from './palette.tsx';
import { WorkspaceChoice } from './workspace-choice.tsx';
import { groups, permittedViews, views, type ConsoleView } from './views.ts';

const isOffline = signal(!navigator.onLine);

export function ConsoleShell() {
  const main = useRef<HTMLElement>(null);
  useKeys();
  useConnection();
  const { view: name, id } = place.value;
  const view = views.find((one) => one.name === name);
  useEffect(() => {
    document.title = `${view?.title ?? 'Not found'} · Moniker`;
    isListOpen.value = false;
  }, [view, id]);
  const hasKey = hasAccess.value;
  useEffect(() => (hasKey ? pollInbox() : undefined), [hasKey]);
  useEffect(() => (hasKey ? pollHeldServers() : undefined), [hasKey]);
  useEffect(followMe, []);
  useFirstView();
  const waiting = views.reduce((sum, { badge }) => sum + (badge?.value ?? 0), 0);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <button
          type="button"
          class="plain menu"
          aria-expanded={isListOpen.value}
          aria-controls="navigation"
          onClick={() => (isListOpen.value = !isListOpen.value)}
        >
          Menu
          <Badge count={waiting} />
        </button>
        <a class="brand" href={pathOf('chat')}>
          <span aria-hidden="true" class="logo" />
          Moniker
        </a>
        <button type="button" class="find" onClick={openPalette}>
          <span>Search</span>
          <span class="kbd">Ctrl K</span>
        </button>
        {apiKey.value === '' && me.value?.user !== undefined ? <PersonMenu user={me.value.user} role={me.value.role} /> : <KeyMenu />}
      </header>
      <nav id="navigation" aria-label="Console" class={isListOpen.value ? 'side open' : 'side'}>
        {hasKey && <WorkspaceChoice />}
        <Navigation current={name} recent={hasKey ? <RecentChats current={name === 'chat' ? id : null} /> : null} />
      </nav>
      <main id="content" ref={main} tabIndex={-1}>
        <Notices />
        {!hasKey ? (
          <SignedOut />
        ) : view === undefined ? (
          <NotFound />
        ) : (
          <LoadedView key={`${chosenWorkspace.value} ${view.name}`} view={view} id={id} />
        )}
      </main>
      {hasKey && <Palette />}
      <div class="visually-hidden" role="status" aria-live="polite">
        {announcement.value}
      </div>
    </div>
  );
}

async function signOut(): Promise<void> {
  await sendRequest(new Request('/sign-out', { method: 'POST' }));
  location.assign('/sign-in?to=/console');
}

function SignedOut() {
  return apiKey.value === '' && isAsking.value ? <p class="loading">Loading…</p> : <KeyPage />;
}

type Me = components['schemas']['Me'];

function PersonMenu({ user: { name, email }, role }: { user: NonNullable<Me['user']>; role: Me['role'] }) {
  return (
    <HeaderMenu isSet summary={<span class="person">{visible(name)}</span>}>
      <p>
        {visible(email ?? name)}, {role ?? 'administrator'} in {visible(me.value?.workspace ?? '')}
      </p>
      <p>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
    </HeaderMenu>
  );
}

/** `recent`: shown below the first group, to which the chats belong. */
function Navigation({ current, recent }: { current: string; recent: ComponentChildren }) {
  return (
    <>
      {groups.map(([group, own], index) => {
        const shown = permittedViews.value.filter((view) => own.includes(view));
        return shown.length === 0 ? null : (
          <Fragment key={group}>
            <section aria-label={group}>
              <h2>{group}</h2>
              <ul>
                {shown.map(({ name, title, key, badge }) => (
                  <li key={name}>
                    <a href={pathOf(name)} aria-current={name === current ? 'page' : undefined}>
                      {title}
                      <span class="grow" />
                      <span class="kbd" aria-hidden="true">
                        g {key}
                      </span>
                      <Badge count={badge?.value ?? 0} />
                    </a>
                  </li>
                ))}
              </ul>
            </section>
            {index === 0 && recent}
          </Fragment>
        );
      })}
      <section aria-label="Reference">
        <h2>Reference</h2>
        <ul>
          <li>
            <a href="/docs">API reference</a>
          </li>
        </ul>
      </section>
    </>
  );
}

function Badge({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span class="badge warn count">
      {count}
      <span class="visually-hidden"> waiting</span>
    </span>
  );
}

function LoadedView({ view, id }: { view: ConsoleView; id: string | null }) {
  const View = useMemo(() => late(() => loadView(view)), [view]);
  return <View id={id} />;
}

async function loadView(view: ConsoleView): Promise<ComponentType<ViewProps>> {
  const [[page]] = await Promise.all([view.load().then(Object.values<ComponentType<ViewProps>>), loadStyle(view.name)]);
  if (page === undefined) throw new Error(`The script of ${view.title} has no page.`);
  return page;
}

/** Styles of views are in the document, disabled: the browser loads them when they are enabled. Without its style a view still works. */
async function loadStyle(view: string): Promise<void> {
  const link = document.querySelector<HTMLLinkElement>(`link[data-view="${view}"]`);
  if (!link?.disabled) return;
  await new Promise((resolve) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', resolve);
    link.disabled = false;
  });
}

function NotFound() {
  return (
    <div class="view">
      <h1>There is no such page</h1>
      <p>
        The console has no page at this address. <a href={pathOf('chat')}>Open the chat</a>
      </p>
    </div>
  );
}

/** What concerns every view: no connection, or a limit that was reached. */
function Notices() {
  const seconds = useCountdown();
  return (
    <>
      {isOffline.value && (
        <p class="notice warn" role="status">
          You are offline. What you typed is kept; the page continues when the connection is back.
        </p>
      )}
      {seconds > 0 && (
        <p class="notice warn">
          The service limits how often this key may call it. Try again in <strong>{seconds} s</strong>.
        </p>
      )}
    </>
  );
}

function useCountdown(): number {
  const [now, setNow] = useState(Date.now());
  const until = useComputed(() => retryAt.value).value;
  useEffect(() => {
    if (until <= Date.now()) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return Math.max(0, Math.ceil((until - now) / 1_000));
}

/** A key that cannot chat begins with the first view that it may open. */
function useFirstView(): void {
  const { view, id } = place.value;
  const [first] = permittedViews.value;
  const isElsewhere = view === 'chat' && id === null && first !== undefined && first.name !== view;
  useEffect(() => {
    if (isElsewhere) navigate(pathOf(first.name), { replace: true });
  }, [isElsewhere]);
}

function useConnection(): void {
  const update = () => (isOffline.value = !navigator.onLine);
  useListeners({ online: update, offline: update });
}

const chordMs = 1_200;

/** `Ctrl K` and `/`: the palette. `g` and a letter: a view. Nothing approves or denies a call. */
function useKeys(): void {
  const chordUntil = useRef(0);
  const press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.key === 'Escape') isListOpen.value = false;
    // Within the shadow root of an editor, which `event.target` does not name.
    const [target] = event.composedPath();
    const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog') !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') {
      event.preventDefault();
      openPalette();
    } else if (event.key === 'g') chordUntil.current = Date.now() + chordMs;
    else if (Date.now() < chordUntil.current) {
      chordUntil.current = 0;
      const view = permittedViews.value.find(({ key }) => key === event.key);
      if (view !== undefined) navigate(pathOf(view.name));
    }
  };
  useListeners({ keydown: press });
}
