/** Module loader hooks: `k6/http` is modules/http.ts, `k6` itself modules/k6.ts. */
export function resolve(specifier, context, next) {
  const [, name] = /^k6(?:\/([a-z]+))?$/.exec(specifier) ?? [];
  if (!/^k6(\/|$)/.test(specifier)) return next(specifier, context);
  const here = import.meta.url.replace(/[^/]*$/, '');
  return next(`${here}modules/${name ?? 'k6'}.ts`, context);
}
