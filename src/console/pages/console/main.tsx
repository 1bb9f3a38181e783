/** `/` and `/console/…`: the console. It does everything over the public API, with the key of this tab. */
import { render } from 'preact';
import { apiKey, loadKey } from '../../api/key.ts';
import { loadTheme } from '../../api/theme.ts';
import { loadWorkspace } from '../../api/workspace.ts';
import { followPlace } from '../../router.ts';
import { ConsoleShell } from './shell.tsx';

loadTheme();
loadKey();
loadWorkspace(apiKey);
followPlace();
const page = document.getElementById('page');
if (page !== null) render(<ConsoleShell />, page);
