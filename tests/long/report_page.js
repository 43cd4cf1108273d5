/* report_page.js - put behind a report by report.sh: uses the page as a reader would, and writes what was wrong
 * into an attribute of the page. */
'use strict';
(function () {
const wrong = [], all = q => [...document.querySelectorAll(q)];
const must = (ok, sentence) => { if (!ok) wrong.push(sentence); };
window.addEventListener('error', e => wrong.push('an error: ' + e.message));
document.addEventListener('securitypolicyviolation', e => wrong.push('a request was refused: ' + e.blockedURI));

function bars(place) { return place.querySelectorAll('.picture rect title').length; }
function filters() {
  for (const place of all('.explore')) {
    if (!place.children.length) continue;
    const boxes = [...place.querySelectorAll('input')], before = bars(place), count = place.querySelector('.count').textContent;
    must(before > 0, 'nothing is drawn to begin with');
    boxes.filter(b => b.parentNode.parentNode.textContent.startsWith('policy')).slice(0, 1).forEach(function (box) {
      box.click();
      must(place.querySelector('.count').textContent !== count, 'a filter does not change how many cells are shown');
      must(bars(place) < before, 'a filter does not change what is drawn: ' + bars(place) + ' bars, before ' + before);
      box.click();
      must(bars(place) === before, 'a filter that is taken back does not bring back what was drawn');
    });
    const title = () => place.querySelector('svg title').textContent;
    const [show, by] = place.querySelectorAll('select'), first = title();
    show.selectedIndex = show.options.length - 1;
    show.dispatchEvent(new Event('change'));
    must(title() !== first, 'the choice of what is shown changes nothing');
    const second = title();
    by.selectedIndex = 0;
    by.dispatchEvent(new Event('change'));
    must(title() !== second, 'the choice of the axis changes nothing');
    const link = [...place.querySelectorAll('a')].find(a => a.download === 'shown.csv');
    link.addEventListener('click', e => e.preventDefault());
    link.click();
    must(link.href.startsWith('blob:'), 'the numbers that are shown are no file');
    const numbers = place.querySelector('details');
    numbers.open = true;
    const rows = numbers.querySelectorAll('tbody tr').length, more = numbers.querySelector('button');
    if (!more.hidden) {
      more.click();
      must(numbers.querySelectorAll('tbody tr').length > rows, '"more" shows no more');
    }
  }
}
function themes() {
  const button = document.getElementById('theme'), seen = new Set();
  for (let i = 0; i < 3; i++) {
    button.click();
    const theme = document.documentElement.dataset.theme;
    const back = getComputedStyle(document.body).backgroundColor, svg = document.querySelector('svg .back');
    if (theme) seen.add(back);
    if (svg) must(getComputedStyle(svg).fill === back, 'a picture has another ground than the page: ' + theme);
  }
  must(seen.size === 2, 'light and dark look the same');
}
function keyboard() {
  all('details').forEach(d => { d.open = true; });
  const reach = all('button, select, input, summary, a[href], [tabindex]').filter(e => e.offsetParent !== null);
  for (const e of reach) {
    must(e.tabIndex >= 0, 'the keyboard does not reach a ' + e.tagName);
    e.focus();
    must(document.activeElement === e, 'a ' + e.tagName + ' takes no focus');
  }
  for (const e of all('.wide, .picture')) must(e.tabIndex === 0, 'what scrolls is not reached by the keyboard');
  must(all('select, input').every(e => e.closest('label') || e.getAttribute('aria-label')), 'a choice has no label');
}
function lookCloser() { /* at time lines, where the page has uPlot */
  if (typeof uPlot === 'undefined') return;
  for (const place of all('.explore')) { /* an axis of many numbers is a line */
    if (!place.children.length) continue;
    const [show, by] = place.querySelectorAll('select'), many = [...by.options].findIndex(o => o.textContent === 'x');
    if (many < 0) continue;
    show.selectedIndex = 1;
    show.dispatchEvent(new Event('change'));
    by.selectedIndex = many;
    by.dispatchEvent(new Event('change'));
    must(place.querySelector('canvas'), 'uPlot draws no line along an axis of many numbers');
  }
  all('figure details').forEach(function (d) { must(d.querySelector('canvas'), 'uPlot draws nothing'); });
}

window.addEventListener('load', function () {
  setTimeout(function () {
    try {
      must(document.documentElement.dataset.ready === 'yes', 'the page is not ready');
      filters();
      themes();
      keyboard();
      must(!window.hacked, 'a name was run');
      must(all('img, iframe, object, embed, link').length === 0, 'a name became an element, or something is loaded');
      must(performance.getEntriesByType('resource').length === 0, 'the page asks for ' +
        performance.getEntriesByType('resource').map(r => r.name).join(' '));
      const paint = performance.getEntriesByName('first-contentful-paint')[0];
      const there = performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart;
      /* A small page may be done before it is painted. */
      must(!paint || paint.startTime < 2000, 'the first paint comes after ' + (paint && paint.startTime) + ' ms');
      must(there < 2000, 'the page is there after ' + there + ' ms');
      document.documentElement.dataset.paint = Math.round(paint ? paint.startTime : there);
    } catch (e) {
      wrong.push('an exception: ' + e.message);
    }
    setTimeout(function () { /* what opens draws later */
      try { lookCloser(); } catch (e) { wrong.push('an exception: ' + e.message); }
      document.documentElement.dataset.result = wrong.length ? wrong.join('; ') : 'nothing is wrong';
    }, 200);
  }, 1200);
});
})();
