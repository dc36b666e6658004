/** The page at `/`: what this is, and where the rest is. */

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Complete in itself: it loads nothing. */
export const landingPage = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem }</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<ul>
<li><a href="metrics">/metrics</a>: for Prometheus, as text or OpenMetrics</li>
<li><a href="healthz">/healthz</a>: whether this program serves</li>
</ul>
</body>
</html>
`;
