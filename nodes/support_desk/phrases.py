"""Phrases in five languages that carry a fact: threats, deletions; and words that tell a language."""

from __future__ import annotations

from collections.abc import Mapping

from stateward.govern.pattern import Pattern, compile_pattern


def _any_of(*phrases: str) -> Pattern:
    return compile_pattern("|".join(f"(?:{phrase})" for phrase in phrases), case_sensitive=False)


THREATS = _any_of(
    # a lawyer by profession writes too: only "my lawyer", or one who is brought in, threatens
    r"\b(?:my|our|a) (?:lawyer|solicitor|attorney)s?\b.{0,40}\b(?:will|shall|hear|contact|touch|write)",
    r"\b(?:hear|contact|speak|talk|call|get)\w* .{0,12}\b(?:my|our|a) (?:lawyer|solicitor|attorney)",
    r"\blegal (?:action|steps|proceedings)\b",
    r"\b(?:sue|suing) (?:you|your|the)\b",
    r"\bsmall claims\b",
    r"\b(?:take|taking|see) (?:you|this|it)? ?(?:to|in) court\b",
    r"\b(?:to|call|tell|inform|contact) the (?:press|media|newspapers?|papers)\b",
    r"\btrading standards\b|\bombudsman\b|\bconsumer protection\b|\bfinancial conduct authority\b",
    r"\b(?:meinen?|unseren?|einen?) (?:rechts)?anw[aä]lt",
    r"\brechtlichen? schritte|\bverklage|\bklage ein|\bstrafanzeige|\berstatte anzeige|\banzeige erstatten",
    r"\bverbraucherzentrale|\bverbraucherschutz",
    r"\b(?:zur|die|der) presse\b|\ban die (?:zeitung|medien)",
    r"\b(?:mon|notre|un) avocat\b",
    r"porter? plainte|mise en demeure|action en justice|devant (?:le tribunal|la justice)|\bdgccrf\b",
    r"(?:contacte|alerte|prévien|inform|saisi|parle)[^ ]* (?:à )?la presse|les médias",
    r"\b(?:mi|nuestro|un) abogad[oa]\b",
    r"\b(?:os|les|le|voy a|vamos a) (?:denunci(?:o|ar?)|demand(?:o|ar))|poner una denuncia|\ba consumo\b",
    r"acciones legales|oficina del consumidor|\b(?:a|en) la prensa\b",
    r"\b(?:il mio|nostro|un) avvocat[oa]\b",
    r"vie legali|azion[ei] legal[ei]|sporg\w+ (?:denuncia|querela)|\bvi denuncio",
    r"associazione (?:dei )?consumatori",
    r"\b(?:alla stampa|ai giornali|in tribunale)\b",
)

TAKEOVER = _any_of(
    r"\b(?:hacked|phished)\b",
    r"\b(?:someone|somebody|a stranger)\b.{0,30}\b(?:in|into|inside|accessed|access to|took over) my account",
    r"\baccount (?:was|has been|is) (?:stolen|taken over|compromised)",
    r"\bgehackt\b|\bjemand.{0,30}in mein(?:em|en)? (?:kunden)?konto|\bkonto.{0,20}(?:übernommen|gekapert)",
    r"pirat[ée]|quelqu'un.{0,30}mon compte",
    r"hackead|jaquead|alguien.{0,30}mi cuenta",
    r"hackerat|violat[oa].{0,20}account|qualcuno.{0,30}mio account",
)

DATA_LOSS = _any_of(
    r"\b(?:wiped|erased|deleted|destroyed|lost) (?:all |out )?(?:my|our|all) (?:entire |whole |saved ){0,2}"
    r"(?:data|work|project|list|file|photo|design|order history)",
    r"\balle (?:meine )?(?:daten|projekte|dateien|entwürfe).{0,30}(?:weg|verloren|gelöscht|verschwunden)",
    r"(?:effacé|supprimé|perdu) (?:toutes|tous|l'ensemble de)? ?(?:mes|nos) (?:données|projets|fichiers)",
    r"(?:borrado|perdido) (?:todos|todas)? ?(?:mis|nuestros) (?:datos|proyectos|archivos)",
    r"(?:cancellato|perso) (?:tutti|tutte)? ?(?:i miei|i nostri) (?:dati|progetti|file)",
)

DELETION = _any_of(
    r"\b(?:delete|close|remove|erase|cancel|terminate)\b.{0,12}\b(?:account|profile)\b",
    r"\bdelete_account\b",
    r"\b(?:account|profile)\b.{0,40}\b(?:deleted|closed|removed|erased)\b",
    r"\b(?:lösche|loesche|schließe|entferne)[a-zß]* .{0,16}(?:kunden)?konto",
    r"\bkonto\b.{0,50}(?:löschen|schließen|entfernen)",
    r"(?:supprime|ferme|efface|clôture)[rz]? .{0,12}compte",
    r"(?:elimin|borr|cerr|cierr)[^ ]{0,4} .{0,12}cuenta\b",
    r"(?:cancell|elimin|chiud)[^ ]{0,5} .{0,12}account\b",
)

CONFIRMATION = _any_of(
    r"\bwritten confirmation\b|\bconfirm\w*\b.{0,40}\b(?:by|via|in an?) e-?mail",
    r"\bconfirm\w*\b.{0,20}\bin writing\b",
    r"schriftliche[nr]? bestätigung|bestätig[a-z]*.{0,40}(?:per|als) e-?mail|per e-?mail.{0,30}bestätig",
    r"confirm[^ ]*.{0,40}(?:par|via) (?:e-?mail|mail|courriel|écrit)|confirmation écrite",
    r"confirm[^ ]*.{0,40}(?:por|vía) (?:correo|e-?mail|escrito)|confirmación (?:escrita|por escrito)",
    r"conferm[^ ]*.{0,40}(?:via|per|tramite) (?:e-?mail|mail|iscritto)|conferma scritta",
)

INJECTION = _any_of(
    r"\b(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|earlier) (?:instr|prompt)",
    r"\bsystem (?:override|prompt)\b|</?(?:system|customer|assistant|user)>",
    r"\b(?:maintenance|developer) mode\b",
    r"\byou are now (?:an?|in)\b|\bgrant me admin\b|\bverified as administrator\b",
    r"\b(?:delete_account|issue_refund|send_email|create_return|lookup_order)\b",
    r"ignorier\w* (?:alle|sämtliche) (?:vorherigen|bisherigen) anweisungen",
    r"ignore[zr]? (?:toutes )?les instructions précédentes|ignora (?:todas )?las instrucciones anteriores",
    r"ignora (?:tutte )?le istruzioni precedenti",
)

LANGUAGE_WORDS: Mapping[str, str] = {
    "en": "the and is my i you not for of to it was have this please can your with when how",
    "de": "der die das und ist ich nicht sie mein meine bitte für wie wann mit ein eine zu bei auf",
    "fr": "le la les et est je vous ne pas mon ma pour commande des une du de que avec quand bonjour",
    "es": "el la los de y es no mi por para pedido una que con hola cómo del las mis está muy ya se al",
    "it": "il la lo gli e è non mio mia per ordine una che con di quando buongiorno come del ho mi della",
}
