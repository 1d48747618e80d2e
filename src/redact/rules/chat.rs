//! Messengers and mail.

use crate::redact::rule::{Find, rules};

rules! {
    "slack-token" ["xoxa-" "xoxb-" "xoxc-" "xoxd-" "xoxe-" "xoxo-" "xoxp-" "xoxr-" "xoxs-"] Find::Pattern("xox[a-z]-[A-Za-z0-9%/+-]{10,}");
        finds ["«xo¦xb-123456789012-1234567890123-asvZvn1ORhFW88bc7Vsgvs11»" "«xo¦xp-123456789012-123456789012-e16d4f6185578715bbd26944ff770e4b»"] leaves ["xoxb-..." "xoxb-xxxxxxxxxxxx"]
    "slack-refresh-token" ["xoxe.xox"] Find::Pattern(r"xoxe\.xox[a-z]-[A-Za-z0-9-]{20,}");
        finds ["«xoxe.¦xoxp-1-sTI4tJlkPVo0Hjbw8KrqJmd1xZ1NHsSAXfNCD5RTMHsTc9HKUcdkXSKjECAdwfFvtVvkQGpf9bfMyiUAW6FpSon7upsQpPFIvBBxZ1JSXL9oh257rKGyu1TvnUYLp0WUOXIj6X11QPDC»"] leaves ["xoxe.xoxp-"]
    "slack-app-token" ["xapp-"] Find::Pattern("xapp-[A-Za-z0-9-]{20,}");
        finds ["«xa¦pp-1-AGZDN737KTF-1234567890123-4754ec21ef66b01d4921da2e055c90eb6f2aed4c21a9dbf49a067e24bdb7ec83»"] leaves ["xapp-x"]
    "slack-webhook" ["hooks.slack.com/"] Find::Pattern(r"hooks\.slack\.com/[a-z]{5,12}/([A-Za-z0-9/_-]{20,})");
        finds ["https://hooks.slack.com/services/«TOLMHOQGMQ/B7O5OHF2E4/I3gjgt1w8Ho9ugGd1rZiK99M»"] leaves ["https://hooks.slack.com/services/..."]
    "discord-webhook" ["/webhooks/"] Find::Pattern("/webhooks/([0-9]{15,22}/[A-Za-z0-9_-]{30,})");
        finds ["https://discord.com/api/webhooks/«1234567890123456789/kexFIXxnDZPDXCAsm9NdTHtIb64Fn3MkH6u3WKXv1VzwvrA0QHPXgvh8WufC0mWGWjUz»"] leaves ["/webhooks/1234567890"]
    "discord-token" ["MDA" "MDE" "MDI" "MDM" "MDQ" "MDU" "MDY" "MDc" "MDg" "MDk" "MTA" "MTE" "MTI" "MTM" "MTQ" "MTU" "MTY" "MTc" "MTg" "MTk" "MjA" "MjE" "MjI" "MjM" "MjQ" "MjU" "MjY" "Mjc" "Mjg" "Mjk" "MzA" "MzE" "MzI" "MzM" "MzQ" "MzU" "MzY" "Mzc" "Mzg" "Mzk" "NDA" "NDE" "NDI" "NDM" "NDQ" "NDU" "NDY" "NDc" "NDg" "NDk" "NTA" "NTE" "NTI" "NTM" "NTQ" "NTU" "NTY" "NTc" "NTg" "NTk" "NjA" "NjE" "NjI" "NjM" "NjQ" "NjU" "NjY" "Njc" "Njg" "Njk" "NzA" "NzE" "NzI" "NzM" "NzQ" "NzU" "NzY" "Nzc" "Nzg" "Nzk" "ODA" "ODE" "ODI" "ODM" "ODQ" "ODU" "ODY" "ODc" "ODg" "ODk" "OTA" "OTE" "OTI" "OTM" "OTQ" "OTU" "OTY" "OTc" "OTg" "OTk"] Find::Pattern(r"\b[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}");
        finds ["bot «MTk4NjIyNDgzNDcxOTI1MjQ4.¦Cl2FMQ.mHC76rPQWMscB1lcHyBfHEzQLJj» end"] leaves ["MTkiLCJ.ab.cd"]
    "telegram-token" [":AA"] Find::Around("[0-9]{8,10}", ":AA[A-Za-z0-9_-]{32,}");
        finds ["bot«110201543:¦AA7S3rqY1Jl4QiswzR8cABVJfge3Cz1CELn»/getMe"] leaves ["12:AAbc"]
    "teams-webhook" [".webhook.office.com/"] Find::Pattern(r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{40,})");
        finds ["https://x.webhook.office.com/webhookb2/«cf5ec72ba694165beaecba0afa707e1448c8@28b4136d3b97429ab7bca1aafb77b4460ece/IncomingWebhook/c9524998a26259bebd2fa5880587061c»"] leaves ["https://x.webhook.office.com/webhookb2/"]
    "sendgrid-key" ["SG."] Find::Pattern(r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,}");
        finds ["«S¦G.cM5mS3gpGMPuD9ImDFEz04.kVuIAMRip4AoU7BNUU3vBpfZnrzVLD3ayCFonVxfmZQ»"] leaves ["SG.x"]
    "twilio-key" ["SK0" "SK1" "SK2" "SK3" "SK4" "SK5" "SK6" "SK7" "SK8" "SK9" "SKa" "SKb" "SKc" "SKd" "SKe" "SKf"] Find::Pattern(r"\bSK[0-9a-f]{32}\b");
        finds ["«S¦Ke00aa1da5204642bbdb4a78f19e8b848»"] leaves ["SKa" "SKeleton"]
    "mailgun-key" ["key-"] Find::Pattern(r"\bkey-[0-9a-f]{32}\b");
        finds ["«ke¦y-0f3b47c20431658b4550b7ef6bce6a03»"] leaves ["key-value"]
    "mailchimp-key" ["-us"] Find::Around("[0-9a-f]{32}", r"-us[0-9]{1,2}\b");
        finds ["«02cb17cdc70808d77b6ad89f65f84992-us21»"] leaves ["non-us12"]
    "resend-key" ["re_"] Find::Pattern(r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}");
        finds ["«r¦e_VAf35PKU_rnm9cNlD4yN24vXCxx3cLb3I»"] leaves ["re_export_all_the_things"]
    "brevo-key" ["xkeysib-" "xsmtpsib-"] Find::Pattern(r"\bx[a-z]{6,7}-[A-Za-z0-9-]{60,}");
        finds ["«xkey¦sib-90340494b35ec2daca1760147d301a233f4d05743bf2b672850882161db80a1e-iSjVsa3vtRZbUiaY»"] leaves ["xkeysib-x"]
    "klaviyo-key" ["pk_"] Find::Pattern(r"\bpk_[a-f0-9]{34}\b");
        finds ["Klaviyo-API-Key «pk_¦902073fec8df4f50947aaeb26c57d21fa5»"] leaves ["pk_live_51abc" "pk_id" "pk_name"]
    "clickup-token" ["pk_"] Find::Pattern(r"\bpk_[0-9]{6,}_[A-Z0-9]{32}\b");
        finds ["«pk_¦72252427_52LOI03P8HSSRRXQQM2PLPPJSMUEZQP6»"] leaves ["pk_1" "pk_2025_index" "pk_user_id"]
    "intercom-token" ["dG9rOj"] Find::Pattern(r"\bdG9rOj[A-Za-z0-9+/_=-]{20,}");
        finds ["«dG9¦rOjHoPZgPDcgaE40o1C6xc4sohdmM0Lm7exG3lCMqXXQ8agOMTNwncxvj=»"] leaves ["dG9rOj" "dG9rOjx" "xdG9rOj"]
    "zapier-webhook" ["hooks.zapier.com/"] Find::Pattern(r"hooks\.zapier\.com/hooks/catch/([0-9]{5,}/[a-z0-9]{5,})");
        finds ["https://hooks.zapier.com/hooks/catch/«1234567/a1b2c3d»/"] leaves ["https://hooks.zapier.com/hooks/catch/" "https://hooks.zapier.com/docs" "hooks.zapier.com/hooks/catch/<id>"]
}
