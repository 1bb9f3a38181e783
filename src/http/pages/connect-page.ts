/** The pages of `/connect/{server}`. They work without scripts. */
import { escapeHtml, escapeInvisible, htmlPage } from './html.ts';

/** `problem`: why the last attempt failed; null: this is the first one. `server` `''`: the link names none. */
export function connectPage(server: string, problem: string | null): string {
  const title = server === '' ? 'This link is invalid' : `Connect your account at ${server}`;
  const why = problem === null ? '' : `<p class="reason">${escapeInvisible(problem)}</p>\n`;
  return htmlPage(title, `<main class="approval">\n<h1>${escapeHtml(title)}</h1>\n${why}${server === '' ? '' : form}</main>`);
}

/** The content policy permits no redirect from a form to another site, so the user follows a link, and sees where it leads. */
export function continuePage(server: string, authorizationUrl: string): string {
  const { host } = new URL(authorizationUrl);
  return htmlPage(
    `Continue at ${host}`,
    `<main class="approval">
<h1>Continue at ${escapeInvisible(host)}</h1>
<p>Sign in there with the account that ${escapeHtml(server)} is to use for you. Finish within ten minutes, in this browser.</p>
<p><a class="button" href="${escapeHtml(authorizationUrl)}">Continue</a></p>
</main>`,
  );
}

/** Without `action`, the form is sent to the URL of the page, whatever prefix the path has. */
const form = `<p>Your tool calls then use your account at this server. No other user can use it.</p>
<form method="post">
<p><label>API key <input type="password" name="key" autocomplete="off" required></label></p>
<p><button>Continue</button></p>
</form>
`;
