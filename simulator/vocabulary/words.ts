import { textHash } from "./text_hash.ts";

/*
 * The words of the other vocabulary. A status, type or method of the simulator is one to four English words in snake_case;
 * each of them has a German or a Portuguese one here, and the whole gets another case. Both ways are arithmetic: a value that
 * was told is understood without a memory of it.
 */

const DICTIONARY = `
account Konto, acknowledgement Eingangsbestätigung, active ativo, all alle, amount Betrag, approval Freigabe,
approve freigeben, approved Aprovado, auto selbsttätig, awaiting wartend, backorder Rückstand, blanket Rahmen,
blocked gesperrt, buyer Einkäufer, captured genutzt, carrier Spediteur, category Kategorie, certificate Zeugnis,
change Änderung, clear unbedenklich, closed Encerrado, completed concluído, confirm bestätigen,
confirmation Auftragsbestätigung, contract Vertrag, created angelegt, credit Credit, critical kritisch,
currency Währung, date Datum, delay Verzug, delivered ENTREGUE, delivery Lieferung, description Beschreibung,
discount Skonto, discrepancy Abweichung, dismissed verworfen, document Dokument, dual zwei, due fällig,
duplicate doppelt, early früh, email Correio, error Fehler, exceeded überschritten, expired abgelaufen,
expiring auslaufend, failed fehlgeschlagen, field Feld, file Datei, finding Befund, findings Befunde, flat pauschal,
freight Frete, fulfillment Erfüllung, goods Ware, high hoch, hold angehalten, id Kennung, import Einfuhr, in em,
invoice Rechnung, invoiced berechnet, invoices Rechnungen, issue Vorgang, item Artikel, items Teile, late verspätet,
lead Vorlauf, line Zeile, lines Zeilen, low niedrig, manual von-Hand, match Treffer, matched ABGEGLICHEN,
medium mittel, memo Note, message Mitteilung, met erreicht, mismatch Unstimmigkeit, missed versäumt, missing fehlend,
model Modell, month Monat, multi mehrfach, name Bezeichnung, no ohne, none keine, normal üblich, note Notiz,
notes Notizen, number Nummer, observed beobachtet, open offen, order Auftrag, orders Aufträge, outbound abgehend,
over über, overdue überfällig, packing Verpackung, paid PAGO, parcel Paket, partial TEILWEISE, past verstrichen,
payable zahlbar, payment Pagamento, pending ausstehend, po BE, price Preis, processed verarbeitet, processing laufend,
promise Zusage, promised zugesagt, purchase Kauf, quantity Menge, quote Angebot, rate Tarif, reason Grund,
receipt Wareneingang, receipts Eingänge, received eingegangen, reduces mindert, rejected RECUSADO, request Anfrage,
requested gewünscht, resolved gelöst, review Prüfung, row Reihe, rows Reihen, rule Regel, score Punkte, sea Seeweg,
send senden, service Dienst, settled ausgeglichen, share Anteil, shipped versandt, short knapp, shortage Fehlmenge,
signature Unterschrift, situation Lage, sole allein, source Quelle, sourcing Bezugsart, standard Regelfall,
state Zustand, stated genannt, status Stand, string Zeichenkette, summary Zusammenfassung, supply Versorgung,
system Anlage, tax Steuer, total Gesamt, tracking Sendung, transit trânsito, type Typ, unclassified uneingeordnet,
unconfirmed unbestätigt, unit Einheit, unmatched unabgeglichen, unpaid unbezahlt, unreadable unlesbar,
unverified ungeprüft, update Aktualisierung, upload Hochladen, urgent dringend, value Wert, variance Streuung,
vendor Fornecedor, verified verificado, waiting abwartend, week Woche, weekly wöchentlich, workbook Arbeitsmappe,
you Sie`;

const SAID = new Map(DICTIONARY.split(",").map(pair => pair.trim().split(" ") as [string, string]));
const UNDERSTOOD = new Map([...SAID].map(([plain, other]) => [other.toLowerCase(), plain]));

/** Values that the documents themselves name for a request, and the one that a documented path has in it. */
const DOCUMENTED: ReadonlySet<string> = new Set([
  ...["billing", "contracts", "payments", "receiving", "documents"],
  ...["inbound", "flagged", "vendor_marketing", "auto_reply", "system_notification", "agent"],
]);

const WORD = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

type Form = (words: readonly string[]) => string;

const upper = (word: string): string => word.toUpperCase();
const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** "TEILWEISE GELIEFERT", "Teilweise geliefert", "teilweise–geliefert", "Teilweise/Geliefert". */
const FORMS: readonly [Form, ...Form[]] = [
  words => words.map(upper).join(" "),
  ([first = "", ...rest]) => [title(first), ...rest].join(" "),
  words => words.map(word => word.toLowerCase()).join("–"),
  words => words.map(title).join("/"),
];

/** What the other vocabulary says for a word; any other text is said as it is. */
export function wordSaid(text: string): string {
  if (text.length < 2 || text.length > 40 || !WORD.test(text) || DOCUMENTED.has(text)) return text;
  const form = FORMS[textHash(text) % FORMS.length] ?? FORMS[0];
  return form(text.split("_").map(word => SAID.get(word) ?? word));
}

/** The word behind what `wordSaid` said; any other text is itself. */
export function wordUnderstood(text: string): string {
  const words = text.toLowerCase().split(/[ –/]/);
  const plain = words.map(word => UNDERSTOOD.get(word) ?? word).join("_");
  return plain !== text && wordSaid(plain) === text ? plain : text;
}
