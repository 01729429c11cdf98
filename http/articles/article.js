// Adds buttons that copy the examples, and a search over all articles.

/** Browsers give pages the clipboard over HTTPS and on this machine alone. */
if (navigator.clipboard !== undefined) {
  for (const figure of document.querySelectorAll('figure')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      button.textContent = 'Copied';
    });
    figure.prepend(button);
  }
}

const MOST_RESULTS = 12;
const navigation = document.querySelector('nav');
const field = document.createElement('input');
field.type = 'search';
field.placeholder = 'Search';
field.setAttribute('aria-label', 'Search the articles');
const results = document.createElement('ul');
results.setAttribute('aria-label', 'Found');
results.hidden = true;
const links = [...navigation.querySelectorAll('a')];
navigation.prepend(field, results);

/** The parts of an article from one heading to the next, with their text. */
async function partsOf(link) {
  const reply = await fetch(link.href);
  const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
  const parts = [];
  for (const element of page.querySelector('main').children) {
    if (/^H[1-3]$/.test(element.tagName)) {
      const title = parts.length === 0 ? link.textContent : `${link.textContent}: ${element.textContent}`;
      parts.push({ title, href: `${link.href}#${element.id}`, text: '' });
    }
    const part = parts.at(-1);
    if (part !== undefined) part.text += ` ${element.textContent.toLowerCase()}`;
  }
  return parts;
}

let parts;
field.addEventListener('input', async () => {
  parts ??= Promise.all(links.map(partsOf)).then((all) => all.flat());
  const known = await parts;
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0 ? [] : known.filter(({ text }) => words.every((word) => text.includes(word)));
  results.hidden = words.length === 0;
  const items = found.slice(0, MOST_RESULTS).map(({ title, href }) => {
    const link = document.createElement('a');
    link.href = href;
    link.textContent = title;
    return listItem(link);
  });
  results.replaceChildren(...(items.length > 0 ? items : [listItem('Nothing has all these words.')]));
});

function listItem(content) {
  const item = document.createElement('li');
  item.append(content);
  return item;
}
