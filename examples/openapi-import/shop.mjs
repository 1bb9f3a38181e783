/** A stand-in for the API that `shop-api.json` describes. */
const products = [
  { id: 1, name: 'Notebook', category: 'books', price: 4.5 },
  { id: 2, name: 'Fountain pen', category: 'pens', price: 19 },
];

export function shop(method, path, body) {
  const { pathname, searchParams } = new URL(path, 'http://shop');
  const category = searchParams.get('category');
  if (method === 'GET' && pathname === '/products') return products.filter((product) => category === null || product.category === category);
  if (method === 'POST' && pathname === '/orders') return { status: 201, json: { order: 100, ...JSON.parse(body), status: 'placed' } };
  if (method === 'DELETE' && pathname === '/orders/100') return { order: 100, status: 'cancelled' };
  return { status: 404, json: { error: `No ${method} ${pathname}` } };
}
