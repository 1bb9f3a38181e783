/** The page `/sign-in`: the identity providers, a form for the root key, and who is signed in. Works without scripts. */
import type { Person } from '../../core/people/person.ts';
import { escapeHtml, escapeInvisible, htmlPage } from './html.ts';

export type SignInPage = {
  /** Path to return to. */
  to: string;
  providers: readonly { id: string; name: string }[];
  person: Person | null;
  /** Why the last attempt failed; may contain text of another service. */
  problem: string | null;
};

export function signInPage({ to, providers, person, problem }: SignInPage): string {
  const target = `<input type="hidden" name="to" value="${escapeHtml(to)}">`;
  const links = providers.map(({ id, name }) => {
    const href = `/sign-in/${encodeURIComponent(id)}?to=${encodeURIComponent(to)}`;
    return `<p><a class="provider" href="${escapeHtml(href)}">Sign in with ${escapeInvisible(name)}</a></p>`;
  });
  const form = `<form method="post" action="/sign-in" class="root-key">
${target}
<label for="key">Root key</label>
<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required>
<button type="submit">Sign in with the root key</button>
</form>`;
  return htmlPage(
    'Sign in · Moniker',
    `<main class="sign-in">
<h1>Sign in to Moniker</h1>
${problem === null ? '' : `<p class="problem" role="alert">${escapeInvisible(problem)}</p>\n`}${person === null ? '' : signedIn(person, to)}${links.join('\n')}
${links.length === 0 ? form : `<details><summary>Sign in with the root key</summary>\n${form}\n</details>`}
</main>`,
  );
}

function signedIn({ user, email }: Person, to: string): string {
  return `<p>You are signed in as <strong>${escapeInvisible(email ?? user.name)}</strong>. <a href="${escapeHtml(to)}">Continue</a></p>
<form method="post" action="/sign-out"><button type="submit">Sign out</button></form>
`;
}
