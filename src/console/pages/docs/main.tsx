/** `/docs`: the API reference, built from `/openapi.json`. */
import { render } from 'preact';
import { signal } from '@preact/signals';

const title = signal('Moniker API');

const root = document.getElementById('page');
if (root !== null)
  render(
    <main>
      <h1>{title}</h1>
      <p>
        The reference is in the <a href="/openapi.json">OpenAPI document</a>.
      </p>
    </main>,
    root,
  );
