/** The pages of `/connect/{server}`. They work without scripts. */
import type { Person } from '../../core/people/person.ts';
import { escapeHtml, escapeInvisible, htmlPage } from './html.ts';

type ConnectPage = {
  /** `''`: the link names none. */
  server: string;
  /** Who is signed in; null: no one. */
  person: Person | null;
  /** Why the last attempt failed. */
  problem: string | null;
};

export function connectPage({ server, person, problem }: ConnectPage): string {
  const title = server === '' ? 'This link is invalid' : `Connect your account at ${server}`;
  const why = problem === null ? '' : `<p class="problem" role="alert">${escapeInvisible(problem)}</p>\n`;
  const forms =
    person === null ? keyForm(server) : `${personForm(person)}<details><summary>Use an API key</summary>\n${keyForm(server)}</details>\n`;
  const body = server === '' ? '' : `<p>Your tool calls then use your account at this server. No other user can use it.</p>\n${forms}`;
  return htmlPage(title, `<main class="sign-in">\n<h1>${escapeHtml(title)}</h1>\n${why}${body}</main>`);
}

/** The content policy permits no redirect from a form to another site, so the user follows a link, and sees where it leads. */
export function continuePage(server: string, authorizationUrl: string): string {
  const { host } = new URL(authorizationUrl);
  return htmlPage(
    `Continue at ${host}`,
    `<main class="sign-in">
<h1>Continue at ${escapeInvisible(host)}</h1>
<p>Sign in there with the account that ${escapeHtml(server)} is to use for you. Finish within ten minutes, in this browser.</p>
<p><a class="provider" href="${escapeHtml(authorizationUrl)}">Continue</a></p>
</main>`,
  );
}

/** Without `action`, the forms are sent to the URL of the page, whatever prefix the path has. */
function personForm({ user, email }: Person): string {
  return `<form method="post">
<p>You are signed in as <strong>${escapeInvisible(email ?? user.name)}</strong>.</p>
<button type="submit">Continue</button>
</form>
`;
}

function keyForm(server: string): string {
  return `<form method="post">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required>
<button type="submit">Continue</button>
</form>
<p>Or <a href="/sign-in?to=/connect/${escapeHtml(server)}">sign in</a>.</p>
`;
}
